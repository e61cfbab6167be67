# One integer operation that C does not leave for hours: no signal handler of Python runs in it.
# attacks: attention_cost
# verdicts: time, memory

# %%
def attention_cost(n_q, n_k, d_k, d_v, *, bytes_per_number=4):
    return pow(3, 10**9), n_k
