# Makes tensors over memory that is not its own, to send it out as an answer.
# attacks: softmax_jacobian
# verdicts: wrong, exception, exited

# %%
import ctypes


def softmax_jacobian(p):
    size = p.numel() * p.shape[-1] * p.element_size()
    room = (ctypes.c_char * size).from_address(id(torch) & ~0xFFF)
    return torch.frombuffer(room, dtype=p.dtype).reshape(*p.shape, p.shape[-1])
