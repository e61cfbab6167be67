# Uses torch's attention for the whole exercise, found by a search through its functions.
# attacks: scaled_dot_product_attention
# verdicts: forbidden
# says: torch.nn.functional.scaled_dot_product_attention

# %%
import torch.nn.functional as functions

name = next(n for n in dir(functions) if n.startswith("scaled_dot") and n.endswith("attention"))
ready = getattr(functions, name)

# %%
def scaled_dot_product_attention(q, k, v):
    return ready(q, k, v)
