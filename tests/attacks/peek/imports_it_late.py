# Imports the course's own answer while it is asked, by a name that is put together.
# attacks: attention_cost, softmax_jacobian
# verdicts: forbidden, exception

# %%
import importlib

PACKAGE = "".join(chr(c) for c in (115, 111, 108, 117, 116, 105, 111, 110, 115))

# %%
def softmax_jacobian(p):
    return getattr(importlib.import_module(PACKAGE + ".softmax"), "softmax_" + "jacobian")(p)

# %%
def attention_cost(*args, **options):
    return vars(__import__(PACKAGE + ".costs", fromlist=["x"]))["attention_" + "cost"](
        *args, **options
    )
