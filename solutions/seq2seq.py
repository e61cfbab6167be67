"""From one sequence to another: an encoder and a decoder (chapter 11)."""

import math

import torch
from torch import Tensor, nn

from solutions.blocks import EncoderBlock
from solutions.feedforward import SwiGLU
from solutions.heads import MultiHeadAttention
from solutions.masks import causal_mask, padding_mask
from solutions.norms import RMSNorm
from solutions.positions import position_angles, sinusoidal_encoding


class CrossBlock(nn.Module):
    """Attention to the past, then to the encoder, then feed-forward.

    d_model  width of the stream and of the memory, a multiple of heads
    heads    of each attention
    d_ff     hidden width of the feed-forward layer

    Weights: norm_1, norm_2 and norm_3, each an RMSNorm of width d_model, one
    for each sublayer in their order; attend and cross, each a
    MultiHeadAttention; feed_forward, a SwiGLU.

    Source: Vaswani et al. 2017, section 3.1, with the pre-norm of chapter 07.

    >>> import torch
    >>> block = CrossBlock(d_model=6, heads=2, d_ff=10)
    >>> block(torch.zeros(2, 5, 6), memory=torch.zeros(2, 3, 6)).shape
    torch.Size([2, 5, 6])
    """

    def __init__(self, d_model: int, heads: int, d_ff: int) -> None:
        super().__init__()
        ### BEGIN SOLUTION
        self.norm_1 = RMSNorm(d_model)
        self.attend = MultiHeadAttention(d_model, heads)
        self.norm_2 = RMSNorm(d_model)
        self.cross = MultiHeadAttention(d_model, heads)
        self.norm_3 = RMSNorm(d_model)
        self.feed_forward = SwiGLU(d_model, d_ff)
        ### END SOLUTION

    def forward(
        self,
        x: Tensor,
        memory: Tensor,
        mask: Tensor | None = None,
    ) -> Tensor:
        """Hear from the tokens before, and from the whole source.

        x       (B, L, D)  the stream of the target: token i hears from
                           targets 0 .. i
        memory  (B, M, D)  what the encoder wrote; it is read as it is
        mask    bool, True where the memory may be read; broadcasts to
                (B, H, L, M). None hides nothing
        ->      (B, L, D)
        """
        ### BEGIN SOLUTION
        past = causal_mask(x.shape[1], x.shape[1], x.device)  # (L, L)
        x = x + self.attend(self.norm_1(x), mask=past)
        x = x + self.cross(self.norm_2(x), memory, mask)
        mixed: Tensor = x + self.feed_forward(self.norm_3(x))  # (B, L, D)
        return mixed
        ### END SOLUTION


class EncoderDecoder(nn.Module):
    """A stack that reads the source, and one that writes the target.

    vocabulary  how many tokens there are, for source and target alike
    d_model     width of both streams, even, and a multiple of heads
    layers      how many blocks each of the two stacks has
    heads       of each attention
    d_ff        hidden width of each feed-forward layer

    Weights: embed, an nn.Embedding with a row of d_model numbers for each
    token, for both sides; encoder, an nn.ModuleList of EncoderBlock;
    encoder_norm, an RMSNorm of width d_model; decoder, an nn.ModuleList of
    CrossBlock; norm, another RMSNorm; head, nn.Linear(d_model, vocabulary)
    without bias.

    Source: Vaswani et al. 2017, section 3, with the pre-norm of chapter 07.

    >>> import torch
    >>> model = EncoderDecoder(11, d_model=6, layers=2, heads=3, d_ff=10)
    >>> source = torch.tensor([[1, 2, 3, 4]])
    >>> model(source, target=torch.tensor([[0, 4, 3]])).shape
    torch.Size([1, 3, 11])
    """

    def __init__(
        self,
        vocabulary: int,
        d_model: int,
        *,
        layers: int,
        heads: int,
        d_ff: int,
    ) -> None:
        super().__init__()
        ### BEGIN SOLUTION
        sizes, each = (d_model, heads, d_ff), range(layers)
        self.embed = nn.Embedding(vocabulary, d_model)
        self.encoder = nn.ModuleList(EncoderBlock(*sizes) for _ in each)
        self.encoder_norm = RMSNorm(d_model)
        self.decoder = nn.ModuleList(CrossBlock(*sizes) for _ in each)
        self.norm = RMSNorm(d_model)
        self.head = nn.Linear(d_model, vocabulary, bias=False)
        ### END SOLUTION

    def place(self, tokens: Tensor) -> Tensor:
        """Look tokens up, and add where they stand.

        tokens  (B, L)     ids, int64
        ->      (B, L, D)  their vectors times the root of d_model, plus the
                           sinusoidal code of the positions 0 .. L-1
        """
        ### BEGIN SOLUTION
        x = self.embed(tokens)  # (B, L, D)
        places = torch.arange(tokens.shape[1], device=tokens.device)
        code = sinusoidal_encoding(position_angles(places, x.shape[-1]))
        placed: Tensor = x * math.sqrt(x.shape[-1]) + code.to(x.dtype)
        return placed
        ### END SOLUTION

    def encode(self, source: Tensor, lengths: Tensor | None = None) -> Tensor:
        """Read the source, every token hearing from all real ones.

        source   (B, M)     ids, int64
        lengths  (B,)       how many tokens of each source are real, int64;
                            the rest, at the end, is padding. None means all
        ->       (B, M, D)  the memory: after the last norm of the encoder
        """
        ### BEGIN SOLUTION
        mask = None
        if lengths is not None:
            mask = padding_mask(lengths, source.shape[1])  # (B, 1, 1, M)
        x = self.place(source)  # (B, M, D)
        for block in self.encoder:
            x = block(x, mask)
        memory: Tensor = self.encoder_norm(x)  # (B, M, D)
        return memory
        ### END SOLUTION

    def decode(
        self,
        target: Tensor,
        memory: Tensor,
        lengths: Tensor | None = None,
    ) -> Tensor:
        """Score the next target token at every position.

        target   (B, L)     ids of the targets so far, int64
        memory   (B, M, D)  what encode gave; every block reads it
        lengths  (B,)       of the sources, as in encode
        ->       (B, L, V)  logits
        """
        ### BEGIN SOLUTION
        mask = None
        if lengths is not None:
            mask = padding_mask(lengths, memory.shape[1])  # (B, 1, 1, M)
        x = self.place(target)  # (B, L, D)
        for block in self.decoder:
            x = block(x, memory, mask)
        logits: Tensor = self.head(self.norm(x))  # (B, L, V)
        return logits
        ### END SOLUTION

    def forward(
        self,
        source: Tensor,
        target: Tensor,
        lengths: Tensor | None = None,
    ) -> Tensor:
        """Read the source, then score the next token of each target.

        source   (B, M)     ids, int64
        target   (B, L)     ids, int64: what the decoder is given, which
                            begins with a start token
        lengths  (B,)       of the sources; None means that all is real
        ->       (B, L, V)  logits: of target token i + 1 at position i
        """
        ### BEGIN SOLUTION
        return self.decode(target, self.encode(source, lengths), lengths)
        ### END SOLUTION
