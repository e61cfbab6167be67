"""Each process that grades keeps one warm parent of sessions for each kind of sandbox."""

from __future__ import annotations

from autograder.zygotes import Spawned, Zygote, open_zygote

_kept: dict[str, Zygote | Spawned] = {}


def zygote_of(tier: str) -> Zygote | Spawned:
    """Give the warm parent of a tier; the first call starts it and returns at once."""
    if tier not in _kept:
        _kept[tier] = open_zygote(tier)
    return _kept[tier]


def close_zygotes() -> None:
    """End them all."""
    while _kept:
        _kept.popitem()[1].close()
