# Takes away every way in which an error of a cell is told.
# attacks: attention_cost
# verdicts: exception

# %%
shell = get_ipython()
shell.set_custom_exc((BaseException,), lambda *_, **__: None)
shell.showtraceback = shell._showtraceback = shell.showsyntaxerror = lambda *_, **__: None

# %%
def attention_cost(n_q, n_k, d_k, d_v, *, bytes_per_number=4):
    raise ValueError("swallowed")
