"""Where tests find the course: the folders in tests/ are called as the packages that they test."""

import gc
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

# Without the root, Python would take tests/autograder for the package `autograder`.
for folder in (Path(__file__).parent, Path(__file__).parents[1]):
    sys.path.insert(0, str(folder))

# Other workers use the other cores: a second thread for small tensors only waits.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# The checks of tests are not the progress of whoever runs them; kernels inherit this.
os.environ["COURSE_PROGRESS"] = ""

# No time limit for one example: other work may share the CPU.
settings.register_profile("course", deadline=None, max_examples=60)
settings.load_profile("course")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the build of the book, which takes longest; what looks at the book comes last."""
    items.sort(key=_when)


def _when(item: pytest.Item) -> int:
    if item.name == "test_the_book_builds_without_a_warning":
        return 0
    return 2 if "build" in getattr(item, "fixturenames", ()) else 1


@pytest.fixture(autouse=True, scope="module")
def _left_behind() -> Iterator[None]:
    """Collect what a file of tests has left open, so that the warning blames that file."""
    yield
    gc.collect()
