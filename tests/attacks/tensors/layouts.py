# Answers with tensors that are not strided: sparse, nested, quantized, on a tour by call.
# attacks: softmax_jacobian
# verdicts: wrong, exception

# %%
import itertools
import warnings

warnings.simplefilter("ignore")
turn = itertools.count()


def softmax_jacobian(p):
    like = torch.zeros(p.numel(), p.shape[-1])
    kinds = (
        lambda: like.to_sparse(),
        lambda: like.to_sparse_csr(),
        lambda: torch.nested.nested_tensor([like, like[:1]]),
        lambda: torch.quantize_per_tensor(like, 0.1, 0, torch.quint8),
        lambda: like.to_mkldnn(),
    )
    return kinds[next(turn) % len(kinds)]()
