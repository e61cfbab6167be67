"""Exercise: a loss in nats per token, in bits per character.

Out of scope: bits per byte, perplexity.
"""

import math
from collections.abc import Iterator

from torch import Generator

from autograder.compare import values
from autograder.exercises.chapter_12 import CHAPTER
from autograder.inputs import integer, uniform
from autograder.spec import Case, Exercise, Trial
from autograder.wire import call
from solutions.losses import bits_per_character


def _trial(loss: float, tokens: int, characters: int) -> Trial:
    words = f"loss = {loss}, {tokens} tokens, {characters} characters"
    return Trial(call(loss, tokens, characters), words)


def a_token_is_a_character(rng: Generator) -> Iterator[Trial]:
    for _ in range(2):
        length = integer(rng, 100, 900)
        yield _trial(uniform(rng, 1.1, 4.0), length, length)


def long_tokens(rng: Generator) -> Iterator[Trial]:
    for _ in range(2):
        tokens = integer(rng, 100, 900)
        yield _trial(uniform(rng, 1.1, 6.0), tokens, tokens + integer(rng, 50, 3000))


def bytes_of_rare_letters(rng: Generator) -> Iterator[Trial]:
    tokens = integer(rng, 300, 900)
    yield _trial(uniform(rng, 1.1, 4.0), tokens, tokens - integer(rng, 50, 200))


def long_texts(rng: Generator) -> Iterator[Trial]:
    tokens = integer(rng, 10**11, 10**12)
    yield _trial(uniform(rng, 1.1, 6.0), tokens, 4 * tokens + integer(rng, 1, 1000))


def small_losses(rng: Generator) -> Iterator[Trial]:
    yield _trial(uniform(rng, 1.0, 9.0) * 1e-4, integer(rng, 10, 90), integer(rng, 100, 900))
    yield _trial(0.0, integer(rng, 10, 90), integer(rng, 100, 900))


CASES = (
    Case("nats become bits", a_token_is_a_character, values),
    Case("a token may have several characters", long_tokens, values, weight=2),
    Case("a token may be less than a character", bytes_of_rare_letters, values),
    Case("works for very long texts", long_texts, values),
    Case("small losses keep their digits, and 0 is 0", small_losses, values),
)


def nats_kept(loss: float, tokens: int, characters: int) -> float:
    """These are nats per character. A nat is more than a bit: how many bits have the same
    probability, 1 / e?
    """
    return loss * tokens / characters


def multiplied(loss: float, tokens: int, characters: int) -> float:
    """You go from bits to nats: the factor is the wrong way up. Bits are smaller than nats, so
    there are more of them.
    """
    return loss * tokens / characters * math.log(2)


def by_base_ten(loss: float, tokens: int, characters: int) -> float:
    """These are decimal digits: the logarithm has base 10. Bits have base 2."""
    return loss * tokens / characters / math.log(10)


def per_token(loss: float, tokens: int, characters: int) -> float:
    """These are bits per token. A longer token is harder to guess; share its cost among its
    characters.
    """
    return loss / math.log(2)


def upside_down(loss: float, tokens: int, characters: int) -> float:
    """Tokens and characters are the wrong way up. All that the text costs is the mean times the
    number of tokens; how many characters share it?
    """
    return loss * characters / tokens / math.log(2)


def whole_text(loss: float, tokens: int, characters: int) -> float:
    """These are the bits of the whole text. Asked is the mean over its characters."""
    return loss * tokens / math.log(2)


def perplexity(loss: float, tokens: int, characters: int) -> float:
    """This is a perplexity, the exponential of a loss. Bits are the loss itself in another unit."""
    return math.exp(loss * tokens / characters)


def logarithm_of_the_loss(loss: float, tokens: int, characters: int) -> float:
    """You take the logarithm of the loss. The loss is a logarithm already: change its base."""
    return math.log2(max(loss, 1e-9)) * tokens / characters


def whole_characters(loss: float, tokens: int, characters: int) -> float:
    """The number of characters in a token is rounded to a whole number. Divide exactly."""
    return loss / max(1, characters // tokens) / math.log(2)


def never_less_than_a_character(loss: float, tokens: int, characters: int) -> float:
    """You take it for granted that a token has one character or more. Byte by byte, a letter such
    as é takes two tokens.
    """
    return loss * min(1.0, tokens / characters) / math.log(2)


def rounded(loss: float, tokens: int, characters: int) -> float:
    """The result is rounded. Round when you print, not when you compute."""
    return round(loss * tokens / characters / math.log(2), 2)


def by_log2_of_e(loss: float, tokens: int, characters: int) -> float:
    return math.log2(math.e) * loss * (tokens / characters)


def from_the_whole_text(loss: float, tokens: int, characters: int) -> float:
    nats = loss * tokens
    bits = nats / math.log(2)
    return bits / characters


def by_perplexity(loss: float, tokens: int, characters: int) -> float:
    each = loss / (characters / tokens)
    return each * math.log(math.e, 2)


EXERCISE = Exercise(
    solution=bits_per_character,
    chapter=CHAPTER,
    title="A loss in bits per character",
    points=1,
    minutes=3,
    difficulty=1,
    statement=(
        "A loss is the mean cost of a *token*, in nats. Tokens differ from model to model, "
        "characters do not. Turn the loss into bits per character."
    ),
    example=(
        "A text of 400 characters is cut into 100 tokens, and the loss is 3 nats. The text costs "
        "300 nats, which are 300 / ln 2 = 432.8 bits, and each character 432.8 / 400 = 1.082."
    ),
    conventions=("A nat is 1 / ln 2 = 1.4427 bits.",),
    hints=(
        "First: what does the whole text cost?",
        "A probability of 1/2 costs ln 2 nats, and 1 bit.",
    ),
    cases=CASES,
    mistakes=(
        nats_kept,
        multiplied,
        by_base_ten,
        per_token,
        upside_down,
        whole_text,
        perplexity,
        logarithm_of_the_loss,
        whole_characters,
        never_less_than_a_character,
        rounded,
    ),
    alternatives=(by_log2_of_e, from_the_whole_text, by_perplexity),
)
