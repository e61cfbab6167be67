# Imports the forbidden function under an innocent name.
# attacks: softmax
# verdicts: forbidden
# says: torch.nn.functional.softmax

# %%
from torch.nn.functional import softmax as normalise


def softmax(x, dim=-1):
    return normalise(x, dim=dim)
