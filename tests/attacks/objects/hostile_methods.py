# Objects whose repr, class, name, reduce and destructor do harm when they are looked at.
# attacks: attention_cost, product_moments
# verdicts: wrong, exception, exited, time

# %%
import os


class Meta(type):
    __name__ = property(lambda cls: os._exit(0))
    __mro__ = property(lambda cls: os._exit(0))

    def mro(cls):
        return [cls, object]

    def __instancecheck__(cls, _):
        return True


class Trap(metaclass=Meta):
    __class__ = property(lambda self: int)
    shape = property(lambda self: (_ for _ in ()).throw(SystemExit))

    def __repr__(self):
        os._exit(0)

    def __reduce__(self):
        return os.system, ("echo got th''rough",)

    def __del__(self):
        raise SystemExit

# %%
def product_moments(d_k, mean_q, var_q, mean_k, var_k):
    return Trap(), Trap()

# %%
def attention_cost(n_q, n_k, d_k, d_v, *, bytes_per_number=4):
    return type("x" * 10**7, (), {"shape": (Trap(), 1)})(), n_k
