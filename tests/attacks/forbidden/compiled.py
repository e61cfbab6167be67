# Lets a compiled graph call it: torch.jit reads the source, torch.fx records it.
# attacks: softmax
# verdicts: forbidden, wrong, exception

# %%
import warnings

warnings.simplefilter("ignore")


class Layer(torch.nn.Module):
    def forward(self, x):
        return getattr(torch, "soft" + "max")(x, -1)


graph = torch.fx.symbolic_trace(Layer())


def softmax(x, dim=-1):
    return graph(x.movedim(dim, -1)).movedim(-1, dim)
