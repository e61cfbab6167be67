"""Python processes that can import from given folders and from installed packages alone."""

import json
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
CHAPTER = "02_scaled_dot_product"
PACKAGES = sysconfig.get_path("purelib")


def started(*arguments: object, cwd: Path) -> subprocess.Popen[str]:
    """Start Python; without `site` it does not see the course as an installed package either."""
    command = [sys.executable, "-I", "-S", *map(str, arguments)]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, cwd=cwd, stdout=pipe, stderr=pipe, text=True)


def ended(process: subprocess.Popen[str]) -> str:
    """Wait for the process and give what it wrote; it must end well."""
    out, errors = process.communicate(timeout=300)
    assert process.returncode == 0, errors
    return out


def checking(jobs: list[dict[str, Any]], *path: Path) -> subprocess.Popen[str]:
    """Start a process that judges answers: see checks.py. The first folder is its own."""
    file = path[0] / "jobs.json"
    file.write_text(json.dumps(jobs), encoding="utf-8")
    script = Path(__file__).with_name("checks.py")
    return started(script, file, *path, PACKAGES, cwd=path[0])


def checked(jobs: list[dict[str, Any]], *path: Path) -> list[dict[str, Any]]:
    """Judge answers and give what the checks show."""
    shown: list[dict[str, Any]] = json.loads(ended(checking(jobs, *path)))
    return shown
