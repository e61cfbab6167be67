"""What the tests of grading share: the commands, run as a user runs them."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder.zygotes import best_tier

CHAPTER = "02_scaled_dot_product"
ROOT = Path(__file__).resolve().parents[2]
# What `course grade` needs to be told where there is no sandbox.
TRUST = ["--trust-students"] if best_tier() == "none" else []
MAIN = "import sys; from autograder.cli import main; sys.exit(main())"


@dataclass(frozen=True)
class Graded:
    """What `course grade` made of the sample class."""

    out: Path
    status: int
    stdout: str
    stderr: str

    def record(self, student: str) -> dict[str, Any]:
        records = json.loads((self.out / "results.json").read_text(encoding="utf-8"))
        return next(one for one in records if one["student"] == student)


def course(*arguments: str | Path, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    """Run the command line as a user does."""
    command = [sys.executable, "-c", MAIN, *map(str, arguments)]
    return run(command, cwd)


def run(command: Sequence[str], cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run a program in a folder, with the programs beside this Python on PATH."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    # One thread each: tests run side by side, and more threads than cores take turns.
    environment = {**os.environ, "PATH": path, "OMP_NUM_THREADS": "1"}
    return subprocess.run(
        command, cwd=cwd, env=environment, capture_output=True, text=True, check=False, timeout=900
    )
