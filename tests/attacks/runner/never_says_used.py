# Empties the list of used functions in each reply, then uses a forbidden one.
# attacks: softmax
# verdicts: forbidden, wrong, exception
# shows: attack over

# %%
from autograder import check

own = check.__globals__
told = own["reply_data"]
own["reply_data"] = lambda reply: {**told(reply), "used": ()}
print("attack", "over")


def softmax(x, dim=-1):
    return getattr(torch, "soft" + "max")(x, dim)
