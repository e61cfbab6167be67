# Grows byte by byte, megabyte by megabyte, and keeps what it has when memory is refused.
# attacks: attention_cost
# verdicts: memory, exception, exited, time, wrong

# %%
kept = []


def attention_cost(n_q, n_k, d_k, d_v, *, bytes_per_number=4):
    try:
        while len(kept) < 20_000:
            kept.append(bytearray(b"x" * 10**6))
    except MemoryError:
        pass
    return n_q, n_k
