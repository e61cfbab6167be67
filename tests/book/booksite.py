"""What the tests of the book ask of the repository: its pages, and how to build them."""

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]
LIMIT_S = 2700  # for a first build, which executes every chapter beside other tests
BUILD = ["build", str(ROOT), "-n", "-W", "--keep-going", "--path-output"]
COMMAND = [sys.executable, "-c", "from jupyter_book.cli.main import main; main()", *BUILD]


@dataclass(frozen=True)
class Build:
    """How a build of the book went, and where its pages are."""

    html: Path
    status: int
    log: str


def build_once(out: Path) -> None:
    """Build the class edition into a folder, unless it is there already."""
    if (out / "status").exists():
        return
    executed = ROOT / "_build" / ".jupyter_cache"
    if executed.is_dir():  # a chapter that was executed for `make` need not be executed again
        shutil.copytree(executed, out / "_build" / ".jupyter_cache")
    environment = {**os.environ, "COURSE_EDITION": "class"}
    with (out / "log").open("w") as log:
        done = subprocess.run(
            [*COMMAND, str(out)],
            stdout=log,
            stderr=subprocess.STDOUT,
            env=environment,
            timeout=LIMIT_S,
            check=False,
        )
    (out / "status").write_text(str(done.returncode))


def toc() -> list[str]:
    """Every page that the table of contents names, without its suffix."""
    tree = yaml.safe_load(read(ROOT / "_toc.yml"))
    parts = [entry["file"] for part in tree["parts"] for entry in part["chapters"]]
    return [tree["root"], *parts]


def chapters() -> list[str]:
    """Names of the chapters in the table of contents."""
    names = [Path(page).name for page in toc()]
    return [name for name in names if name[:2].isdigit()]


def in_repository(path: str) -> bool:
    """Whether a file exists and is not one that git ignores, so that it gets published."""
    listing = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", path]
    listed = subprocess.run(listing, cwd=ROOT, capture_output=True, text=True, check=False)
    ignored = listed.returncode == 0 and not listed.stdout.strip()
    return (ROOT / path).is_file() and not ignored


def read(file: Path) -> str:
    return file.read_text(encoding="utf-8")
