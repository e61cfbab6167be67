# No elements in 2**62 rows, sixty axes of size 1, strides of 0 and views with a pending sign.
# attacks: softmax_jacobian, scaled_dot_product_attention
# verdicts: wrong, exception, output, memory

# %%
import itertools

turn = itertools.count()


def shapes(p):
    yield torch.empty(0, 2**62)
    yield torch.ones((1,) * 60)
    yield torch.zeros(1).expand(2**20, 2**20)
    yield torch._neg_view(torch.ones_like(p))
    yield torch.ones(2, 2, dtype=torch.complex64).conj()
    yield torch.ones(2**40, 0)


def softmax_jacobian(p):
    return next(itertools.islice(shapes(p), next(turn) % 6, None))

# %%
def scaled_dot_product_attention(q, k, v):
    return torch.as_strided(q, (2**20, 2**20), (0, 0))
