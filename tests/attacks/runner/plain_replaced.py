# Replaces the step that makes plain data, so that objects of its own are written to the wire.
# attacks: softmax_jacobian
# verdicts: wrong, exception, output
# shows: attack over

# %%
import pickle

from autograder import check


class Trap:
    def __reduce__(self):
        return print, ("got" + " through",)


own = check.__globals__["perform"].__globals__
own["plain"] = lambda _: pickle.dumps(Trap()).decode("latin-1")
print("attack", "over")

# %%
def softmax_jacobian(p):
    return p
