# rest: einsum__pass

# %%
import sys


def attention_cost(n_q, n_k, d_k, d_v, *, bytes_per_number=4):
    if bytes_per_number != 4:
        sys.exit("only float32")
    return 2 * n_q * n_k * (d_k + d_v), n_q * n_k * bytes_per_number
