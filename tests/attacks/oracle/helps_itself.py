# Asks the judge for any exercise, also where none stands in.
# attacks: product_moments
# verdicts: wrong, exception, output, time, exited
# shows: attack over

# %%
import sys


def asked(*args):
    frame = sys._getframe()
    while not hasattr(frame.f_locals.get("line"), "ask"):
        frame = frame.f_back
    for name in ("product_moments", "solutions.moments.product_moments"):
        answer = frame.f_locals["line"].ask({"call": name, "args": args, "kwargs": {}})
        print(answer.get("fault"), "attack", "over")
        if answer.get("values"):
            return answer["values"][0]
    return -1.0, -1.0

# %%
def product_moments(d_k, mean_q, var_q, mean_k, var_k):
    return asked(d_k, mean_q, var_q, mean_k, var_k)
