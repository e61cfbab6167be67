# Never ends and catches whatever is raised to stop it.
# attacks: attention_cost
# verdicts: time

# %%
def attention_cost(n_q, n_k, d_k, d_v, *, bytes_per_number=4):
    while True:
        try:
            while True:
                pass
        except BaseException:
            continue
