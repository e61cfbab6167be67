"""Several heads: split, attend, merge, mix (chapter 04)."""

from torch import Tensor, nn
from torch.nn.functional import linear

from solutions.masked import masked_attention
from solutions.masks import padding_mask


def split_heads(x: Tensor, heads: int) -> Tensor:
    """Cut the vector of each token into one piece for each head.

    x      (B, L, D)     D is heads times K
    heads  how many pieces: head 0 takes the first K entries, and so on
    ->     (B, H, L, K)  the tokens of each head next to each other

    Source: Vaswani et al. 2017, section 3.2.2.

    >>> import torch
    >>> split_heads(torch.arange(8).reshape(1, 2, 4), heads=2)[0, 1]
    tensor([[2, 3],
            [6, 7]])
    """
    ### BEGIN SOLUTION
    batch, length, _ = x.shape
    pieces = x.reshape(batch, length, heads, -1)  # (B, L, H, K)
    return pieces.transpose(1, 2)
    ### END SOLUTION


def merge_heads(x: Tensor) -> Tensor:
    """Put the pieces of each token side by side again.

    x    (B, H, L, K)  what each head has to say of each token
    ->   (B, L, D)     D is H times K; undoes split_heads

    Source: Vaswani et al. 2017, section 3.2.2.

    >>> import torch
    >>> x = torch.arange(8).reshape(1, 2, 2, 2)
    >>> merge_heads(x)
    tensor([[[0, 1, 4, 5],
             [2, 3, 6, 7]]])
    """
    ### BEGIN SOLUTION
    return x.transpose(1, 2).flatten(-2)  # (B, L, D)
    ### END SOLUTION


def multi_head_attention(
    x: Tensor,
    memory: Tensor,
    weights: tuple[Tensor, ...],
    heads: int,
    mask: Tensor | None = None,
) -> Tensor:
    """Attend in several subspaces at once and mix what they found.

    x        (B, L, D)  asks: its projections are the queries
    memory   (B, M, D)  answers: keys and values; x itself in self-attention
    weights  w_q, w_k, w_v, w_o, each (D, D), used as in nn.Linear: x w^T
    heads    how many; each is D / heads wide
    mask     bool, True where attending is allowed; broadcasts to
             (B, H, L, M). None hides nothing
    ->       (B, L, D)

    Source: Vaswani et al. 2017, section 3.2.2.

    >>> import torch
    >>> eye = torch.eye(2)
    >>> x, memory = torch.zeros(1, 1, 2), torch.tensor([[[1., 0.], [3., 8.]]])
    >>> multi_head_attention(x, memory, (eye, eye, eye, 2 * eye), heads=2)
    tensor([[[4., 8.]]])
    """
    ### BEGIN SOLUTION
    w_q, w_k, w_v, w_o = weights
    q = split_heads(linear(x, w_q), heads)  # (B, H, L, K)
    k = split_heads(linear(memory, w_k), heads)  # (B, H, M, K)
    v = split_heads(linear(memory, w_v), heads)  # (B, H, M, K)
    answers = masked_attention(q, k, v, mask)  # (B, H, L, K)
    return linear(merge_heads(answers), w_o)
    ### END SOLUTION


class MultiHeadAttention(nn.Module):
    """Multi-head attention with weights of its own.

    d_model  width of the vectors, a multiple of heads
    heads    how many; each is d_model / heads wide

    Weights: w_q, w_k, w_v, w_o, linear layers of d_model in and out, no bias.

    Source: Vaswani et al. 2017, section 3.2.2.

    >>> import torch
    >>> attend = MultiHeadAttention(d_model=6, heads=2)
    >>> attend(torch.zeros(1, 4, 6)).shape
    torch.Size([1, 4, 6])
    """

    def __init__(self, d_model: int, heads: int) -> None:
        super().__init__()
        ### BEGIN SOLUTION
        self.heads = heads
        self.w_q = nn.Linear(d_model, d_model, bias=False)
        self.w_k = nn.Linear(d_model, d_model, bias=False)
        self.w_v = nn.Linear(d_model, d_model, bias=False)
        self.w_o = nn.Linear(d_model, d_model, bias=False)
        ### END SOLUTION

    def forward(
        self,
        x: Tensor,
        memory: Tensor | None = None,
        mask: Tensor | None = None,
    ) -> Tensor:
        """Let x attend to memory, or to itself if there is none.

        x       (B, L, D)  asks
        memory  (B, M, D)  answers; None means x
        mask    bool, True where attending is allowed; broadcasts to
                (B, H, L, M). None hides nothing
        ->      (B, L, D)
        """
        ### BEGIN SOLUTION
        memory = x if memory is None else memory
        q = split_heads(self.w_q(x), self.heads)  # (B, H, L, K)
        k = split_heads(self.w_k(memory), self.heads)  # (B, H, M, K)
        v = split_heads(self.w_v(memory), self.heads)  # (B, H, M, K)
        answers = masked_attention(q, k, v, mask)  # (B, H, L, K)
        mixed: Tensor = self.w_o(merge_heads(answers))  # (B, L, D)
        return mixed
        ### END SOLUTION


def cross_attention(
    x: Tensor,
    memory: Tensor,
    lengths: Tensor,
    weights: tuple[Tensor, ...],
    heads: int,
) -> Tensor:
    """Let a decoder read what an encoder wrote, but not its padding.

    x        (B, L, D)  states of the decoder: the queries
    memory   (B, M, D)  states of the encoder: keys and values
    lengths  (B,)       how many tokens of each source are real, int64; the
                        rest, at the end, is padding
    weights  w_q, w_k, w_v, w_o, each (D, D), used as in nn.Linear
    heads    how many; each is D / heads wide
    ->       (B, L, D)  every token of x sees the whole source

    Source: Vaswani et al. 2017, section 3.2.3.

    >>> import torch
    >>> x, memory = torch.zeros(1, 1, 2), torch.tensor([[[1., 0.], [3., 8.]]])
    >>> eye = torch.eye(2)
    >>> cross_attention(x, memory, torch.tensor([1]), (eye,) * 4, heads=2)
    tensor([[[1., 0.]]])
    """
    ### BEGIN SOLUTION
    mask = padding_mask(lengths, memory.shape[1])  # (B, 1, 1, M)
    return multi_head_attention(x, memory, weights, heads, mask)
    ### END SOLUTION


def head_contributions(answers: Tensor, w_o: Tensor) -> Tensor:
    """Split the output of multi-head attention into what each head adds.

    answers  (B, H, L, K)  of each head, before they are merged
    w_o      (D, D)        the output matrix, used as in nn.Linear; the
                           first D is that of the output
    ->       (B, H, L, D)  what each head adds to each token; the sum over
                           heads is the output

    Source: Elhage et al. 2021.

    >>> import torch
    >>> answers = torch.tensor([1.0, 10.0]).reshape(1, 2, 1, 1)
    >>> w_o = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> head_contributions(answers, w_o)[0, :, 0]
    tensor([[ 1.,  3.],
            [20., 40.]])
    """
    ### BEGIN SOLUTION
    heads, width = answers.shape[1], answers.shape[-1]
    blocks = w_o.reshape(-1, heads, width)  # (D, H, K)
    return answers @ blocks.permute(1, 2, 0)
    ### END SOLUTION


def attention_parameters(
    d_model: int, heads: int, d_k: int | None = None, d_v: int | None = None
) -> int:
    """Count the weights of one multi-head attention layer without biases.

    d_model  width of the vectors that come in and go out
    heads    how many
    d_k      width of a query and of a key; None means d_model / heads
    d_v      width of a value; None means d_model / heads
    ->       numbers in w_q, w_k, w_v of all heads and in w_o

    Source: Vaswani et al. 2017, section 3.2.2.

    >>> attention_parameters(512, 8)
    1048576
    """
    ### BEGIN SOLUTION
    d_k = d_model // heads if d_k is None else d_k
    d_v = d_model // heads if d_v is None else d_v
    return 2 * d_model * heads * d_k + 2 * d_model * heads * d_v
    ### END SOLUTION
