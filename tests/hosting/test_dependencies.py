"""What the course needs is listed in pyproject.toml; other places that name it agree."""

import re
import tomllib

from machine import ROOT

from autograder.bundle.readme import TEXT
from autograder.doctor import PACKAGES
from autograder.editions.notebook import SOURCES

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
NEEDED = [re.match(r"[\w-]+", line)[0] for line in PROJECT["dependencies"]]


def test_the_first_cell_looks_for_the_course_and_all_that_it_needs():
    assert [*SOURCES] == ["autograder", *NEEDED]
    assert [SOURCES[name] for name in NEEDED] == NEEDED


def test_the_doctor_looks_for_all_of_it():
    assert set(NEEDED) <= {name for name, _ in PACKAGES}


def test_the_readme_of_a_bundle_installs_all_of_it():
    (install,) = re.findall(r"python -m pip install (.+)", TEXT)
    assert install.split() == [*NEEDED, "jupyterlab"]
    (again,) = re.findall(r"%pip install (.+) in a cell", TEXT)
    assert again.split() == NEEDED


def test_each_of_it_is_locked():
    locked = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    assert {line.partition("==")[0] for line in locked} >= set(NEEDED)
