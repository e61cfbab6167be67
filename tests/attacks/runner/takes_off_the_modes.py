# Steps out of torch's modes while it calls a forbidden function.
# attacks: softmax
# verdicts: forbidden, wrong, exception

# %%
import torch.overrides


def softmax(x, dim=-1):
    call = getattr(torch, "soft" + "max")
    with torch._C.DisableTorchFunction():
        return call(x, dim)
