"""Which sandbox to grade in: the best there is, or none where somebody takes the risk."""

from __future__ import annotations

from autograder.usage import UsageError
from autograder.zygotes import TIERS, best_tier, why_not

NONE = TIERS[-1]


def tier_for_class(wanted: str | None, *, trusted: bool) -> str:
    """Choose the sandbox for other people's code. Raises UsageError where there is none."""
    tier = _available(wanted)
    if tier != NONE or trusted:
        return tier
    reasons = "; ".join(f"{name}: {why_not(name)}" for name in TIERS[:-1])
    raise UsageError(
        f"no sandbox is to be had here ({reasons}), so each submission would run as you, with "
        "your files and your network. If you trust these students, say so with --trust-students."
    )


def tier_for_own(wanted: str | None) -> str:
    """Choose the sandbox for one's own notebook: the best there is, or none."""
    return _available(wanted)


def _available(wanted: str | None) -> str:
    if wanted in (None, NONE):
        return wanted or best_tier()
    if reason := why_not(str(wanted)):
        raise UsageError(f"the sandbox {wanted} is not to be had here: {reason}")
    return str(wanted)
