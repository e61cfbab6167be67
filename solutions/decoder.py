"""A whole language model out of decoder blocks (chapter 11)."""

from collections.abc import Sequence

from torch import Tensor, nn

from solutions.blocks import DecoderBlock
from solutions.cache import KVCache
from solutions.norms import RMSNorm


class TransformerLM(nn.Module):
    """From token ids to scores of the next token, at every position.

    vocabulary  how many tokens there are
    d_model     width of the stream, a multiple of heads
    layers      how many blocks
    heads       query heads of each
    d_ff        hidden width of each feed-forward layer
    kv_heads    key/value heads of each; None means as many as query heads

    Weights: embed, an nn.Embedding with a row of d_model numbers for each
    token; blocks, an nn.ModuleList of DecoderBlock; norm, an RMSNorm of
    width d_model; head, nn.Linear(d_model, vocabulary) without bias.

    Source: Radford et al. 2019, section 2.3; Touvron et al. 2023.

    >>> import torch
    >>> model = TransformerLM(11, d_model=6, layers=2, heads=3, d_ff=10)
    >>> logits, caches = model(torch.tensor([[1, 2, 3, 4]]))
    >>> logits.shape, len(caches)
    (torch.Size([1, 4, 11]), 2)
    """

    def __init__(
        self,
        vocabulary: int,
        d_model: int,
        *,
        layers: int,
        heads: int,
        d_ff: int,
        kv_heads: int | None = None,
    ) -> None:
        super().__init__()
        ### BEGIN SOLUTION
        self.embed = nn.Embedding(vocabulary, d_model)
        self.blocks = nn.ModuleList(
            DecoderBlock(d_model, heads, d_ff, kv_heads) for _ in range(layers)
        )
        self.norm = RMSNorm(d_model)
        self.head = nn.Linear(d_model, vocabulary, bias=False)
        ### END SOLUTION

    def forward(
        self,
        tokens: Tensor,
        caches: Sequence[KVCache] | None = None,
        keep: Tensor | None = None,
    ) -> tuple[Tensor, list[KVCache]]:
        """Score every token of the vocabulary as the next one.

        tokens  (B, L)     ids of new tokens, int64
        caches  one for each block, of the tokens before; None at the start
        keep    (B, N)     bool, False at padding, of all tokens so far; None
                           means that all are real
        ->      logits (B, L, V), and the caches with the new tokens in them
        """
        ### BEGIN SOLUTION
        x = self.embed(tokens)  # (B, L, D)
        after = []
        for number, block in enumerate(self.blocks):
            x, cache = block(x, caches[number] if caches else None, keep)
            after.append(cache)
        return self.head(self.norm(x)), after
        ### END SOLUTION


def tie_weights(model: TransformerLM) -> None:
    """Let the embedding and the output projection be one matrix.

    model  whose head gets the embedding's weight, the same parameter

    Source: Press and Wolf 2017.

    >>> model = TransformerLM(11, d_model=6, layers=1, heads=3, d_ff=10)
    >>> tie_weights(model)
    >>> first, second = (part.weight for part in (model.embed, model.head))
    >>> first is second
    True
    """
    ### BEGIN SOLUTION
    model.head.weight = model.embed.weight
    ### END SOLUTION
