# Calls itself by another name, in the hope that the course's version stands there.
# attacks: attention_cost
# verdicts: wrong, exception, exited, not answered

# %%
def cost(*args, **options):
    return globals()["attention_cost"](*args, **options)

# %%
def attention_cost(n_q, n_k, d_k, d_v, *, bytes_per_number=4):
    if globals()["attention_cost"] is not mine:
        return cost(n_q, n_k, d_k, d_v, bytes_per_number=bytes_per_number)
    return n_q, n_k


mine = attention_cost
