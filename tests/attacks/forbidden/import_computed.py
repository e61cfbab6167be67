# Imports the module of the forbidden function by a name that is put together.
# attacks: softmax
# verdicts: forbidden

# %%
import importlib

module = importlib.import_module(".".join(["torch", "nn", "functional"]))
ready = vars(module)["xamtfos"[::-1]]


def softmax(x, dim=-1):
    return ready(x, dim=dim)
