# Reaches the tensor's method through operator and type.
# attacks: softmax
# verdicts: forbidden

# %%
from operator import attrgetter, methodcaller


def softmax(x, dim=-1):
    if x.ndim > 2:
        return methodcaller("soft" + "max", dim)(x)
    return attrgetter("soft" + "max")(type(x))(x, dim)
