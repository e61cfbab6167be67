"""What a gathered module calls for each of its answers."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

Taker = Callable[[str, Any], None]

_takers: list[Taker] = []


class NotLoaded:
    """Stands for an answer whose code could not be run, and says why."""

    def __init__(self, why: str) -> None:
        """Keep the reason."""
        self.why = why

    def __call__(self, *_: Any, **__: Any) -> Any:
        """Raise a NameError with the reason."""
        raise NameError(self.why)


def own(build: Callable[[], Any]) -> Any:
    """Make an answer, and hand it to whoever waits for it, such as `use_mine`."""
    name = build.__name__.removeprefix("_")
    try:
        answer = build()
    except Exception as error:  # one answer's fault must not take the others along
        answer = NotLoaded(f"{name} could not be loaded: {type(error).__name__}: {error}")
    if hasattr(answer, "__qualname__"):
        answer.__qualname__ = name
    for take in _takers:
        take(name, answer)
    return answer


def load(path: Path, take: Taker) -> None:
    """Load a gathered module, and call `take(name, answer)` with each answer when it is made."""
    module = ModuleType("mine")
    module.__file__ = str(path)
    sys.modules["mine"] = module  # where `inspect` looks for the source of a class
    _takers.append(take)
    try:
        exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), vars(module))
    finally:
        _takers.remove(take)
