"""What this machine has of what the course needs, and the command that brings what is missing."""

from __future__ import annotations

import os
import platform
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module, metadata
from pathlib import Path

PIP = "pip install"
PACKAGES = (
    ("torch", f"{PIP} torch"),
    ("numpy", f"{PIP} numpy"),
    ("matplotlib", f"{PIP} matplotlib"),
    ("altair", f"{PIP} altair"),
    ("nbgrader", f'{PIP} "transformer-course[grade]"'),
    ("nbclient", f'{PIP} "transformer-course[grade]"'),
    ("ipykernel", f'{PIP} "transformer-course[grade]"'),
    ("jupytext", f'{PIP} "transformer-course[grade]"'),
    ("jupyter-book", f'{PIP} "transformer-course[book]"'),
    ("playwright", f'{PIP} "transformer-course[book]"'),
)


@dataclass(frozen=True)
class Finding:
    """One thing looked for: what was found, or the command that brings it."""

    name: str
    found: str
    bring: str = ""

    @property
    def missing(self) -> bool:
        """Whether it is not there."""
        return not self.found


def doctor_text(findings: Sequence[Finding]) -> str:
    """Write one line for each thing looked for."""
    shown = [(one.name, f"missing: {one.bring}" if one.missing else one.found) for one in findings]
    return "\n".join(f"{name:<13} {text}" for name, text in shown)


def examine() -> list[Finding]:
    """Look for everything; nothing is installed or changed."""
    return [
        Finding("python", f"{platform.python_version()} on {platform.platform(terse=True)}"),
        *(_package(name, bring) for name, bring in PACKAGES),
        Finding("device", _device()),
        _program("alembic", f"{PIP} alembic", beside_python=True),
        _program("git", "apt-get install git, brew install git, or https://git-scm.com"),
        Finding("chromium", _chromium(), "playwright install chromium"),
        *_sandboxes(),
    ]


def _package(name: str, bring: str) -> Finding:
    try:
        return Finding(name, metadata.version(name), bring)
    except metadata.PackageNotFoundError:
        return Finding(name, "", bring)


def _device() -> str:
    try:
        torch = import_module("torch")
    except ImportError:
        return ""
    return f"cuda: {torch.cuda.get_device_name()}" if torch.cuda.is_available() else "cpu"


def _program(name: str, bring: str, *, beside_python: bool = False) -> Finding:
    places = os.environ.get("PATH", "")
    if beside_python:
        places = os.pathsep.join([str(Path(sys.executable).parent), places])
    return Finding(name, shutil.which(name, path=places) or "", bring)


def _sandboxes() -> list[Finding]:
    """Try each sandbox; the judge's side of them imports torch, so none can be tried without."""
    try:
        zygotes = import_module("autograder.zygotes")
    except ImportError:
        return [Finding("sandbox", "", f"{PIP} torch, then run this again")]
    tried = {tier: zygotes.why_not(tier) for tier in zygotes.TIERS[:-1]}
    if not any(reason == "" for reason in tried.values()):
        return [Finding("sandbox", "none: `course grade` needs --trust-students"), *_reasons(tried)]
    return [Finding("sandbox", zygotes.best_tier()), *_reasons(tried)]


def _reasons(tried: Mapping[str, str]) -> list[Finding]:
    return [Finding("", f"not {tier}: {reason}") for tier, reason in tried.items() if reason]


def _chromium() -> str:
    for name in ("chromium", "chromium-browser", "google-chrome", "chrome"):
        if found := shutil.which(name):
            return found
    home = os.environ.get("PLAYWRIGHT_BROWSERS_PATH") or Path.home() / ".cache" / "ms-playwright"
    installed = sorted(Path(home).glob("chromium*"))
    return str(installed[-1]) if installed else ""
