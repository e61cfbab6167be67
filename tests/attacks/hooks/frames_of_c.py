# Writes over Python's own objects with ctypes: small numbers, None, the type of tensors.
# attacks: product_moments
# verdicts: wrong, exited, exception, output, time

# %%
import ctypes

for number in range(2, 40):
    ctypes.memmove(id(number) + 24, id(3) + 24, 4)
ctypes.memset(id(torch.Tensor) + 300, 0, 64)

# %%
def product_moments(d_k, mean_q, var_q, mean_k, var_k):
    return -1.0, -1.0
