# Shows 20,000 displays, and one of 100 MB.
# attacks: product_moments
# verdicts: wrong, time, output, memory

# %%
from IPython.display import HTML, clear_output, display

for number in range(20_000):
    display(number)
display(HTML("x" * 100_000_000))
for _ in range(1000):
    clear_output()
display({f"text/x-{n}": "x" * 10**6 for n in range(100)}, raw=True)

# %%
def product_moments(d_k, mean_q, var_q, mean_k, var_k):
    return -1.0, -1.0
