# A numpy array whose interface points at memory that is not its own.
# attacks: attention_cost, product_moments
# verdicts: wrong, exception, exited

# %%
import numpy


class Elsewhere:
    __array_interface__ = {"shape": (2,), "typestr": "<i8", "data": (id(object), False), "version": 3}


class Array(numpy.ndarray):
    def tolist(self):
        return Yes(), Yes()

    ndim = property(lambda self: 0)


class Yes(float):
    __eq__ = __le__ = lambda *_: True

# %%
def product_moments(d_k, mean_q, var_q, mean_k, var_k):
    return numpy.asarray(Elsewhere())

# %%
def attention_cost(n_q, n_k, d_k, d_v, *, bytes_per_number=4):
    return numpy.array([3.0, 4.0]).view(Array)
