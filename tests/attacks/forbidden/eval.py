# Writes the forbidden call as text and evaluates it.
# attacks: softmax
# verdicts: forbidden
# says: torch.softmax

# %%
def softmax(x, dim=-1):
    return eval(bytes([116, 111, 114, 99, 104]) + b"." + b"softm" + b"ax(x, dim)")
