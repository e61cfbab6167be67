"""Which sandbox is used: the best, the one asked for, or none where somebody says so."""

import pytest

from autograder import tiers
from autograder.usage import UsageError
from autograder.zygotes import TIERS

WHY = {"namespaces": "no user namespaces", "landlock": "the kernel has none"}


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> object:
    """Pretend that this machine has some of the sandboxes."""

    def has(*names: str) -> None:
        there = [*names, tiers.NONE]
        monkeypatch.setattr(tiers, "best_tier", lambda: next(t for t in TIERS if t in there))
        monkeypatch.setattr(tiers, "why_not", lambda t: "" if t in there else WHY[t])

    return has


def test_there_are_three_tiers_and_none_is_the_last() -> None:
    assert TIERS == ("namespaces", "landlock", "none")
    assert tiers.NONE == "none"


@pytest.mark.parametrize(
    ("has", "wanted", "trusted", "chosen"),
    [
        (["namespaces", "landlock"], None, False, "namespaces"),
        (["namespaces", "landlock"], None, True, "namespaces"),
        (["namespaces", "landlock"], "landlock", False, "landlock"),
        (["landlock"], None, False, "landlock"),
        (["namespaces"], "none", True, "none"),
        ([], None, True, "none"),
    ],
)
def test_a_class_gets_the_best_or_what_was_asked_for(machine, has, wanted, trusted, chosen) -> None:
    machine(*has)
    assert tiers.tier_for_class(wanted, trusted=trusted) == chosen


@pytest.mark.parametrize(("has", "wanted"), [([], None), (["namespaces"], "none")])
def test_no_sandbox_for_a_class_takes_trust(machine, has, wanted) -> None:
    machine(*has)
    with pytest.raises(UsageError, match=r"would run as you.*--trust-students"):
        tiers.tier_for_class(wanted, trusted=False)


def test_the_refusal_says_what_is_wrong_with_each(machine) -> None:
    machine()
    with pytest.raises(UsageError, match=r"namespaces: no user names.*landlock: the kernel has"):
        tiers.tier_for_class(None, trusted=False)


@pytest.mark.parametrize("trusted", [False, True])
def test_a_sandbox_that_is_not_there_is_refused_with_the_reason(machine, trusted) -> None:
    machine("namespaces")
    with pytest.raises(UsageError, match="landlock is not to be had here: the kernel has none"):
        tiers.tier_for_class("landlock", trusted=trusted)
    with pytest.raises(UsageError, match="the kernel has none"):
        tiers.tier_for_own("landlock")


@pytest.mark.parametrize(
    ("has", "wanted", "chosen"),
    [([], None, "none"), (["landlock"], None, "landlock"), (["landlock"], "none", "none")],
)
def test_ones_own_notebook_needs_no_trust(machine, has, wanted, chosen) -> None:
    machine(*has)
    assert tiers.tier_for_own(wanted) == chosen
