# Prints what the kernel remembers of other cells: tests, if they had been cells.
# attacks: attention_cost
# shows: attack over
# never: course_versions

# %%
shell = get_ipython()
print([*globals().get("In", []), *globals().get("_ih", [])])
print({name: repr(value)[:80] for name, value in globals().get("Out", {}).items()})
try:
    print(list(shell.history_manager.get_range(raw=False)))
except BaseException as error:
    print("refused:", type(error).__name__)
print("attack", "over")

# %%
def attention_cost(n_q, n_k, d_k, d_v, *, bytes_per_number=4):
    return n_q, n_k
