# Shows a picture of 144 million points, and bytes that are none.
# attacks: product_moments
# verdicts: wrong, time, output, memory, exited

# %%
from IPython.display import Image, display

display(Image(data=b"\x89PNG\r\n\x1a\n" + b"x" * 20_000_000, format="png"))
figure, axis = plt.subplots(figsize=(120, 120), dpi=100)
axis.plot([0, 1])
display(figure)

# %%
def product_moments(d_k, mean_q, var_q, mean_k, var_k):
    return -1.0, -1.0
