# A Tensor subclass whose shape, dtype, numbers and class are whatever is asked.
# attacks: softmax_jacobian
# verdicts: wrong, exception

# %%
class Liar(torch.Tensor):
    shape = property(lambda self: type("Any", (tuple,), {"__eq__": lambda *_: True})((2, 2)))
    dtype = property(lambda self: torch.float32)
    is_meta = property(lambda self: True)
    layout = property(lambda self: torch.strided)
    device = property(lambda self: torch.device("meta"))
    __class__ = property(lambda self: torch.Tensor)
    numpy = tolist = item = detach = clone = cpu = contiguous = lambda self, *_: self

# %%
def softmax_jacobian(p):
    return torch.zeros(2, 2).as_subclass(Liar)
