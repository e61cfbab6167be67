# Answers of the right numbers' shape in kinds of numbers that a frame may not know.
# attacks: softmax_jacobian, attention_cost
# verdicts: wrong, exception

# %%
import itertools

NAMES = "complex64 bool uint8 float8_e4m3fn float8_e5m2 uint64 bits8 complex32".split()
KINDS = [getattr(torch, name) for name in NAMES if hasattr(torch, name)]
turn = itertools.count()


def softmax_jacobian(p):
    return torch.empty(*p.shape, p.shape[-1], dtype=KINDS[next(turn) % len(KINDS)])

# %%
def attention_cost(n_q, n_k, d_k, d_v, *, bytes_per_number=4):
    return torch.tensor([1 + 2j, 3j]), torch.tensor(True)
