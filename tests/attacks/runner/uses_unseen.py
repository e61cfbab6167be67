# Takes the watch over forbidden functions away and then uses one by a name put together.
# attacks: softmax
# shows: attack over
# limit: code in the process of the answer can take off the watch over what it calls

# %%
import dataclasses

from autograder import check

own = check.__globals__
watched = own["as_request"]
own["as_request"] = lambda data: dataclasses.replace(watched(data), watch=())
print("attack", "over")


def softmax(x, dim=-1):
    return getattr(torch, "soft" + "max")(x, dim)
