# Takes memory past Python: anonymous maps, shared maps, locked pages.
# attacks: attention_cost
# verdicts: memory, exception, exited, wrong, time

# %%
import mmap

maps = []


def attention_cost(n_q, n_k, d_k, d_v, *, bytes_per_number=4):
    try:
        for _ in range(40):
            one = mmap.mmap(-1, 2**29)
            for page in range(0, 2**29, 4096):
                one[page] = 1
            maps.append(one)
    except (OSError, ValueError):
        pass
    return n_q, n_k
