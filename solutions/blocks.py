"""A block of an encoder and one of a decoder (chapter 11)."""

from torch import Tensor, nn

from solutions.cache import KVCache
from solutions.causal import CausalSelfAttention
from solutions.feedforward import SwiGLU
from solutions.heads import MultiHeadAttention
from solutions.norms import RMSNorm


class EncoderBlock(nn.Module):
    """Attention to everything, then a feed-forward layer, both pre-norm.

    d_model  width of the stream, a multiple of heads
    heads    of the attention
    d_ff     hidden width of the feed-forward layer

    Weights: norm_1 and norm_2, each an RMSNorm of width d_model; attend, a
    MultiHeadAttention; feed_forward, a SwiGLU.

    Source: Vaswani et al. 2017, section 3.1, with the pre-norm of chapter 07.

    >>> import torch
    >>> block = EncoderBlock(d_model=6, heads=2, d_ff=10)
    >>> block(torch.zeros(2, 5, 6)).shape
    torch.Size([2, 5, 6])
    """

    def __init__(self, d_model: int, heads: int, d_ff: int) -> None:
        super().__init__()
        ### BEGIN SOLUTION
        self.norm_1 = RMSNorm(d_model)
        self.attend = MultiHeadAttention(d_model, heads)
        self.norm_2 = RMSNorm(d_model)
        self.feed_forward = SwiGLU(d_model, d_ff)
        ### END SOLUTION

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """Let every token hear from those that the mask lets it see.

        x     (B, L, D)  the stream
        mask  bool, True where attending is allowed; broadcasts to
              (B, H, L, L). None hides nothing
        ->    (B, L, D)
        """
        ### BEGIN SOLUTION
        x = x + self.attend(self.norm_1(x), mask=mask)
        mixed: Tensor = x + self.feed_forward(self.norm_2(x))  # (B, L, D)
        return mixed
        ### END SOLUTION


class DecoderBlock(nn.Module):
    """Attention to the past, then a feed-forward layer, both pre-norm.

    d_model   width of the stream, a multiple of heads
    heads     query heads of the attention
    d_ff      hidden width of the feed-forward layer
    kv_heads  key/value heads; None means as many as query heads

    Weights: norm_1 and norm_2, each an RMSNorm of width d_model; attend, a
    CausalSelfAttention; feed_forward, a SwiGLU.

    Source: Radford et al. 2019, section 2.3, with Llama's parts.

    >>> import torch
    >>> block = DecoderBlock(d_model=12, heads=6, d_ff=10, kv_heads=3)
    >>> x, (keys, values) = block(torch.zeros(2, 5, 12))
    >>> x.shape, keys.shape
    (torch.Size([2, 5, 12]), torch.Size([2, 3, 5, 2]))
    """

    def __init__(
        self,
        d_model: int,
        heads: int,
        d_ff: int,
        kv_heads: int | None = None,
    ) -> None:
        super().__init__()
        ### BEGIN SOLUTION
        self.norm_1 = RMSNorm(d_model)
        self.attend = CausalSelfAttention(d_model, heads, kv_heads)
        self.norm_2 = RMSNorm(d_model)
        self.feed_forward = SwiGLU(d_model, d_ff)
        ### END SOLUTION

    def forward(
        self,
        x: Tensor,
        cache: KVCache | None = None,
        keep: Tensor | None = None,
    ) -> tuple[Tensor, KVCache]:
        """Let new tokens hear from themselves and from all before them.

        x      (B, L, D)  the stream of the new tokens
        cache  keys and values of the tokens before, or None
        keep   (B, N)     bool, False at padding, of all tokens so far; None
                          means that all are real
        ->     the stream (B, L, D), and the cache with the new tokens in it
        """
        ### BEGIN SOLUTION
        answers, cache = self.attend(self.norm_1(x), cache, keep)
        x = x + answers
        return x + self.feed_forward(self.norm_2(x)), cache
        ### END SOLUTION
