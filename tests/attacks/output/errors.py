# Raises errors whose names, texts and tracebacks are endless.
# attacks: attention_cost
# verdicts: exception, output

# %%
Long = type("E" * 1_000_000, (Exception,), {})
raise Long("x" * 50_000_000)

# %%
def deep(n):
    return deep(n - 1) if n else 1 / 0


deep(900)

# %%
def attention_cost(n_q, n_k, d_k, d_v, *, bytes_per_number=4):
    raise ExceptionGroup("x" * 10**7, [Long("y" * 10**7), Long(b"\xff" * 10**6)])
