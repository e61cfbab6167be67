"""Exercise: mean and variance of q . k, a derivation that grades itself.

Out of scope: entries that depend on each other (the chapter measures them).
"""

import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import torch
from torch import Generator

from autograder.compare import values
from autograder.exercises.chapter_02 import CHAPTER
from autograder.inputs import integer, uniform
from autograder.spec import Case, Exercise, Trial
from autograder.wire import call
from solutions.moments import product_moments

NAMES = ("d_k", "mean_q", "var_q", "mean_k", "var_k")
Pair = tuple[float, float]


def _trial(*numbers: float) -> Trial:
    words = ", ".join(f"{name} = {value:g}" for name, value in zip(NAMES, numbers, strict=True))
    return Trial(call(*numbers), words, returns="mean, variance")


def _means(rng: Generator) -> tuple[float, float]:
    return uniform(rng, 0.4, 1.4), -uniform(rng, 1.6, 2.6)


def _variances(rng: Generator) -> tuple[float, float]:
    return uniform(rng, 0.2, 0.8), uniform(rng, 1.5, 3.5)


def standard(rng: Generator) -> Iterator[Trial]:
    yield _trial(integer(rng, 5, 99), 0.0, 1.0, 0.0, 1.0)
    yield _trial(integer(rng, 1000, 5000), 0.0, 1.0, 0.0, 1.0)


def other_variances(rng: Generator) -> Iterator[Trial]:
    var_q, var_k = _variances(rng)
    yield _trial(integer(rng, 5, 99), 0.0, var_q, 0.0, var_k)


def other_means(rng: Generator) -> Iterator[Trial]:
    mean_q, mean_k = _means(rng)
    yield _trial(integer(rng, 5, 99), mean_q, 1.0, 0.0, 1.0)
    yield _trial(integer(rng, 5, 99), 0.0, 1.0, mean_k, 1.0)


def everything(rng: Generator) -> Iterator[Trial]:
    (mean_q, mean_k), (var_q, var_k) = _means(rng), _variances(rng)
    yield _trial(integer(rng, 5, 99), mean_q, var_q, mean_k, var_k)
    yield _trial(integer(rng, 5, 99), mean_k, var_k, mean_q, var_q)
    yield _trial(integer(rng, 5, 99), -mean_q, var_q, mean_k, var_k)
    yield _trial(integer(rng, 5, 99), 2, 1, 1, 3)


def one_constant(rng: Generator) -> Iterator[Trial]:
    (mean_q, mean_k), (var_q, var_k) = _means(rng), _variances(rng)
    yield _trial(integer(rng, 5, 99), mean_q, 0.0, mean_k, var_k)
    yield _trial(integer(rng, 5, 99), mean_q, var_q, mean_k, 0.0)


def one_entry(rng: Generator) -> Iterator[Trial]:
    (mean_q, mean_k), (var_q, var_k) = _means(rng), _variances(rng)
    yield _trial(1, mean_q, var_q, mean_k, var_k)


CASES = (
    Case("mean 0 and variance 1 for every entry", standard, values),
    Case("mean 0 and other variances", other_variances, values),
    Case("one of the two means is not 0", other_means, values),
    Case("all means and variances at once", everything, values, weight=2),
    Case("a query, or a key, that never varies", one_constant, values),
    Case("vectors of a single entry", one_entry, values),
)


def means_forgotten(d_k: int, mean_q: float, var_q: float, mean_k: float, var_k: float) -> Pair:
    """Your variance holds when both means are 0. If the query's entries hover around 5, does a
    small change of a key's entry move the product by a little, or by five times as much?
    """
    return d_k * mean_q * mean_k, d_k * var_q * var_k


def second_moment(d_k: int, mean_q: float, var_q: float, mean_k: float, var_k: float) -> Pair:
    """Your variance is that of E[(qk)^2]. Var(X) = E[X^2] - E[X]^2: the square of the mean of one
    product is still in it.
    """
    return d_k * mean_q * mean_k, d_k * (var_q + mean_q**2) * (var_k + mean_k**2)


def second_moment_of_sum(
    d_k: int, mean_q: float, var_q: float, mean_k: float, var_k: float
) -> Pair:
    """Your variance is E[(q . k)^2]: the square of the mean is still in it."""
    mean, variance = product_moments(d_k, mean_q, var_q, mean_k, var_k)
    return mean, variance + mean**2


def terms_identical(d_k: int, mean_q: float, var_q: float, mean_k: float, var_k: float) -> Pair:
    """Your variance grows with the square of d_k, as if all terms of the sum were the same number.
    They are independent: what do the variances of independent terms do?
    """
    mean, variance = product_moments(d_k, mean_q, var_q, mean_k, var_k)
    return mean, d_k * variance


def one_term(d_k: int, mean_q: float, var_q: float, mean_k: float, var_k: float) -> Pair:
    """Your variance is that of one product q_i k_i. The score adds up d_k of them."""
    mean, variance = product_moments(d_k, mean_q, var_q, mean_k, var_k)
    return mean, variance / d_k


def mean_of_one_term(d_k: int, mean_q: float, var_q: float, mean_k: float, var_k: float) -> Pair:
    """Your mean is that of one product q_i k_i. The score adds up d_k of them."""
    mean, variance = product_moments(d_k, mean_q, var_q, mean_k, var_k)
    return mean / d_k, variance


def one_term_for_both(d_k: int, mean_q: float, var_q: float, mean_k: float, var_k: float) -> Pair:
    """Both numbers are those of one product q_i k_i. The score adds up d_k of them."""
    mean, variance = product_moments(d_k, mean_q, var_q, mean_k, var_k)
    return mean / d_k, variance / d_k


def deviation(d_k: int, mean_q: float, var_q: float, mean_k: float, var_k: float) -> Pair:
    """You return the standard deviation. The variance is its square."""
    mean, variance = product_moments(d_k, mean_q, var_q, mean_k, var_k)
    return mean, math.sqrt(variance)


def own_mean(d_k: int, mean_q: float, var_q: float, mean_k: float, var_k: float) -> Pair:
    """Each variance is paired with the square of its own mean. When the key is fixed at its mean,
    whose variance is left, and what is it multiplied by?
    """
    return d_k * mean_q * mean_k, d_k * (var_q * var_k + var_q * mean_q**2 + var_k * mean_k**2)


def means_multiplied(d_k: int, mean_q: float, var_q: float, mean_k: float, var_k: float) -> Pair:
    """Next to the product of the variances stands the product of the squared means. That would not
    vanish for two constants, whose product never varies.
    """
    return d_k * mean_q * mean_k, d_k * (var_q * var_k + (mean_q * mean_k) ** 2)


def no_product_of_variances(
    d_k: int, mean_q: float, var_q: float, mean_k: float, var_k: float
) -> Pair:
    """The product of the two variances is missing: with both means 0 your variance would be 0."""
    return d_k * mean_q * mean_k, d_k * (var_q * mean_k**2 + mean_q**2 * var_k)


def one_mean_forgotten(d_k: int, mean_q: float, var_q: float, mean_k: float, var_k: float) -> Pair:
    """Only one of the two means enters your variance. The roles of q and k are the same, so the
    formula must not change when they are swapped.
    """
    return d_k * mean_q * mean_k, d_k * (var_q * var_k + var_q * mean_k**2)


def means_not_squared(d_k: int, mean_q: float, var_q: float, mean_k: float, var_k: float) -> Pair:
    """A variance is multiplied by a mean, not by its square. Scaling by c multiplies a variance by
    c squared.
    """
    return d_k * mean_q * mean_k, d_k * (var_q * var_k + var_q * mean_k + mean_q * var_k)


def bracket_missing(d_k: int, mean_q: float, var_q: float, mean_k: float, var_k: float) -> Pair:
    """Only the product of the variances is multiplied by d_k. Every term of the variance is there
    d_k times: look for a missing bracket.
    """
    rest = var_q * mean_k**2 + mean_q**2 * var_k
    return d_k * mean_q * mean_k, d_k * var_q * var_k + rest


def mean_squared_afterwards(
    d_k: int, mean_q: float, var_q: float, mean_k: float, var_k: float
) -> Pair:
    """You take the square of the mean of the whole sum from d_k second moments. Take the square of
    the mean of one product from the second moment of one product, then multiply by d_k.
    """
    mean = d_k * mean_q * mean_k
    return mean, d_k * (var_q + mean_q**2) * (var_k + mean_k**2) - mean**2


def variances_added(d_k: int, mean_q: float, var_q: float, mean_k: float, var_k: float) -> Pair:
    """You add the two variances, which is right for a sum q + k. Here the entries are
    multiplied.
    """
    return d_k * mean_q * mean_k, d_k * (var_q + var_k)


def mean_zero(d_k: int, mean_q: float, var_q: float, mean_k: float, var_k: float) -> Pair:
    """Your mean is always 0. For independent q and k, what is E[qk] in terms of the two means?"""
    return 0.0, product_moments(d_k, mean_q, var_q, mean_k, var_k)[1]


def means_added(d_k: int, mean_q: float, var_q: float, mean_k: float, var_k: float) -> Pair:
    """Your mean adds the two means. For independent factors the mean of a product is the product
    of the means.
    """
    return d_k * (mean_q + mean_k), product_moments(d_k, mean_q, var_q, mean_k, var_k)[1]


def scaled(d_k: int, mean_q: float, var_q: float, mean_k: float, var_k: float) -> Pair:
    """These are the moments after the division by sqrt(d_k). Asked are those of q . k itself."""
    mean, variance = product_moments(d_k, mean_q, var_q, mean_k, var_k)
    return mean / math.sqrt(d_k), variance / d_k


def given_deviations(d_k: int, mean_q: float, var_q: float, mean_k: float, var_k: float) -> Pair:
    """You square the variances, as if the arguments were standard deviations."""
    return product_moments(d_k, mean_q, var_q**2, mean_k, var_k**2)


def swapped(d_k: int, mean_q: float, var_q: float, mean_k: float, var_k: float) -> Pair:
    """You return (variance, mean). The mean comes first."""
    mean, variance = product_moments(d_k, mean_q, var_q, mean_k, var_k)
    return variance, mean


def by_second_moments(d_k: int, mean_q: float, var_q: float, mean_k: float, var_k: float) -> Pair:
    mean = mean_q * mean_k
    square = (var_q + mean_q**2) * (var_k + mean_k**2)
    return d_k * mean, d_k * (square - mean**2)


def in_fractions(
    d_k: int, mean_q: float, var_q: float, mean_k: float, var_k: float
) -> tuple[Fraction, Fraction]:
    mq, vq, mk, vk = (Fraction(number) for number in (mean_q, var_q, mean_k, var_k))
    return d_k * mq * mk, d_k * ((vq + mq * mq) * (vk + mk * mk) - (mq * mk) ** 2)


def term_by_term(d_k: int, mean_q: float, var_q: float, mean_k: float, var_k: float) -> list[float]:
    mean = variance = 0.0
    for _ in range(d_k):
        mean += mean_q * mean_k
        variance += var_k * mean_q * mean_q + var_q * (var_k + mean_k * mean_k)
    return [mean, variance]


def with_numpy(
    d_k: int, mean_q: float, var_q: float, mean_k: float, var_k: float
) -> tuple[object, object]:
    m, s = np.array([mean_q, mean_k]), np.array([var_q, var_k])
    return d_k * m.prod(), d_k * (s.prod() + (s * m[::-1] ** 2).sum())


def as_tensor(d_k: int, mean_q: float, var_q: float, mean_k: float, var_k: float) -> torch.Tensor:
    variance = (var_q + mean_q**2) * var_k + var_q * mean_k**2
    return d_k * torch.tensor([mean_q * mean_k, variance])


EXERCISE = Exercise(
    solution=product_moments,
    chapter=CHAPTER,
    title="How far do scores spread?",
    points=3,
    minutes=15,
    difficulty=2,
    statement=(
        "All entries of q have mean `mean_q` and variance `var_q`, all entries of k have `mean_k` "
        "and `var_k`, and all are independent. Return the mean and the variance of the score "
        "q . k before any scaling. The derivation above is the case of mean 0 and variance 1: go "
        "through it again and keep the terms that vanished there."
    ),
    example=(
        "With d_k = 1, q equal to 1 or 3 and k equal to 0 or 2, each with probability 1/2, the "
        "means are 2 and 1 and the variances are 1 and 1. The product is 0, 2, 0 or 6: its mean "
        "is 2, the mean of its square is (0 + 4 + 0 + 36) / 4 = 10, so its variance is "
        "10 - 2^2 = 6. So `product_moments(1, 2, 1, 1, 1)` is (2, 6). For d_k = 10 it is (20, 60)."
    ),
    conventions=(
        "The arguments are variances, not standard deviations; the result is (mean, variance).",
        "Any two numbers will do: a tuple, a list, numpy numbers or a tensor.",
    ),
    hints=(
        "Start with one product q_i k_i. Var(X) = E[X^2] - E[X]^2, and E[X^2] = Var(X) + E[X]^2.",
        "Independence carries over to squares: E[q^2 k^2] = E[q^2] E[k^2]. Write each factor with "
        "the mean and the variance that are given, and multiply out.",
        "Three terms are left for one product. Test them on the worked example, then ask what "
        "adding up d_k independent products does to a mean and to a variance.",
    ),
    cases=CASES,
    mistakes=(
        means_forgotten,
        second_moment,
        second_moment_of_sum,
        terms_identical,
        one_term,
        mean_of_one_term,
        one_term_for_both,
        deviation,
        own_mean,
        means_multiplied,
        no_product_of_variances,
        one_mean_forgotten,
        means_not_squared,
        variances_added,
        bracket_missing,
        mean_squared_afterwards,
        mean_zero,
        means_added,
        scaled,
        given_deviations,
        swapped,
    ),
    alternatives=(by_second_moments, in_fractions, term_by_term, with_numpy, as_tensor),
)
