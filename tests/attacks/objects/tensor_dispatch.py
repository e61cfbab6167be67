# A wrapper subclass without storage that lies about shape and dtype in every dispatched operation.
# attacks: softmax_jacobian
# verdicts: wrong, exception, exited

# %%
class Wrapper(torch.Tensor):
    @staticmethod
    def __new__(cls, like):
        shape = (*like.shape, like.shape[-1])
        return torch.Tensor._make_wrapper_subclass(cls, shape, dtype=like.dtype)

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        return args[0] if args else None

# %%
def softmax_jacobian(p):
    return Wrapper(p)
