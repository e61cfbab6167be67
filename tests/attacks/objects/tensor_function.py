# A Tensor subclass that answers every function of torch with yes.
# attacks: softmax_jacobian
# verdicts: wrong, exception

# %%
class Yes(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        if getattr(func, "__name__", "") in ("detach", "clone", "as_subclass", "contiguous"):
            return args[0]
        return True

# %%
def softmax_jacobian(p):
    return torch.zeros(*p.shape, p.shape[-1], dtype=p.dtype).as_subclass(Yes)
