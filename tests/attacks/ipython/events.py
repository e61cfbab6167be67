# Registers events before and after each cell that put the namespace in its own order.
# attacks: product_moments
# verdicts: wrong, not answered, exception

# %%
shell = get_ipython()


def order(*_):
    for name in ("product_moments", "softmax", "attention_cost"):
        shell.user_ns[name] = lambda *_, **__: True


for event in ("pre_execute", "pre_run_cell", "post_execute", "post_run_cell"):
    shell.events.register(event, order)

# %%
def product_moments(d_k, mean_q, var_q, mean_k, var_k):
    return -1.0, -1.0
