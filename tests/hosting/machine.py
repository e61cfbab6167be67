"""A machine that has some packages and lacks others; its pip only writes down what it is asked."""

import os
import subprocess
import sys
import sysconfig
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGES = Path(sysconfig.get_path("purelib"))

PIP = """
import sys
from pathlib import Path

Path(__file__).with_name("asked").write_text("\\n".join(sys.argv[1:]))
"""
RUN = """
import sys

sys.path.append(sys.argv[1])
from IPython.core.interactiveshell import InteractiveShell

InteractiveShell.instance().run_cell(sys.argv[2]).raise_error()
"""


@dataclass(frozen=True)
class Machine:
    """A folder with what is installed, and one with a pip that takes notes."""

    folder: Path
    absent: Collection[str]

    def run(self, cell: str) -> tuple[str, list[str]]:
        """Run a notebook's cell; give what it says and what it asks of pip."""
        stub = self.folder / "stub" / "pip" / "__main__.py"
        stub.parent.mkdir(parents=True)
        stub.write_text(PIP)
        stub.with_name(
            "__init__.py"
        ).touch()  # a package without one would stand behind the real pip
        # Without `site`, Python sees nothing that is installed but the links.
        command = [sys.executable, "-S", "-c", RUN, str(self._packages()), cell]
        done = subprocess.run(
            command,
            env=self._environment(),
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        asked = stub.with_name("asked")
        return done.stdout, asked.read_text().splitlines() if asked.exists() else []

    def _packages(self) -> Path:
        present = self.folder / "packages"
        present.mkdir()
        for entry in [*PACKAGES.iterdir(), ROOT / "autograder"]:
            if entry.name.partition(".")[0] not in self.absent:
                (present / entry.name).symlink_to(entry)
        return present

    def _environment(self) -> dict[str, str]:
        own = {"PYTHONPATH": str(self.folder / "stub"), "IPYTHONDIR": str(self.folder / "ipython")}
        return {**os.environ, **own}
