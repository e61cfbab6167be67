# Empties the list of used functions in each reply, then uses a forbidden one.
# attacks: softmax
# shows: attack over
# limit: code in the process of the answer can take off the watch over what it calls

# %%
from autograder import check

own = check.__globals__
told = own["reply_data"]
own["reply_data"] = lambda reply: {**told(reply), "used": ()}
print("attack", "over")


def softmax(x, dim=-1):
    return getattr(torch, "soft" + "max")(x, dim)
