"""One bundle for all tests, unzipped where nothing of the course lies beside it."""

import io
import shutil
import zipfile
from pathlib import Path

import pytest
from processes import CHAPTER, ROOT

from autograder.bundle.archive import zipped
from autograder.bundle.contents import bundle_files
from autograder.course import Course

NOT_IN_A_BUNDLE = ("torch_attention", "variations")  # what only specs with their code import


@pytest.fixture(scope="session")
def files() -> dict[str, bytes]:
    """The files of the bundle by their path in the zip."""
    return bundle_files(Course(ROOT), CHAPTER)


@pytest.fixture(scope="session")
def unzipped(files: dict[str, bytes], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that a student gets."""
    folder = tmp_path_factory.mktemp("bundle")
    with zipfile.ZipFile(io.BytesIO(zipped(files))) as archive:
        archive.extractall(folder)
    return folder / CHAPTER


@pytest.fixture(scope="session")
def answers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The course's answers under other names, for a process that must not see the course."""
    folder = tmp_path_factory.mktemp("answers")
    specs = ROOT / "autograder" / "exercises" / "chapter_02"
    for package, name in ((ROOT / "solutions", "answers"), (specs, "known")):
        (folder / name).mkdir()
        for file in package.glob("*.py"):
            text = file.read_text(encoding="utf-8").replace("from solutions.", "from answers.")
            text = text.replace("autograder.exercises.chapter_02", "known")
            for module in NOT_IN_A_BUNDLE:
                text = text.replace(f"autograder.{module}", f"known.{module}")
            (folder / name / file.name).write_text(text, encoding="utf-8")
    for module in NOT_IN_A_BUNDLE:
        shutil.copy(ROOT / "autograder" / f"{module}.py", folder / "known")
    return folder
