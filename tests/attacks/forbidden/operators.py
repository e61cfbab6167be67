# Calls the operators below the forbidden function: torch.ops and torch._C.
# attacks: softmax
# verdicts: forbidden

# %%
turn = []


def softmax(x, dim=-1):
    turn.append(1)
    roads = (
        lambda: getattr(torch.ops.aten, "_soft" + "max")(x, dim, False),
        lambda: getattr(torch._C._VariableFunctions, "soft" + "max")(x, dim),
        lambda: getattr(torch.ops.aten, "soft" + "max").int(x, dim),
    )
    return roads[len(turn) % 3]()
