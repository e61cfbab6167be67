"""Docker, conda and development containers install what the one list says, with one Python."""

import json
import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
import yaml
from machine import ROOT

DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ")
LINES = [line.split() for line in DOCKERFILE.splitlines() if line and not line.startswith("#")]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
CONDA = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))
CONTAINER = json.loads((ROOT / ".devcontainer/devcontainer.json").read_text(encoding="utf-8"))
HUB_ONLY = {"jupyterhub", "nbgitpuller"}  # the hub's versions, not the course's


def stages() -> list[str]:
    return [line[3] for line in LINES if line[0] == "FROM"]


def locked() -> set[str]:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    return {line.partition("==")[0] for line in lines}


def copied() -> list[str]:
    """List what the Dockerfile copies out of the repository."""
    return [name for line in LINES if line[0] == "COPY" for name in line[1:-1]]


def test_the_same_python_everywhere():
    workflows = [file.read_text("utf-8") for file in ROOT.glob(".github/workflows/*.yml")]
    named = re.findall(r"python-version: \"(.+)\"", "\n".join(workflows))
    named += re.findall(r"^FROM python:([\d.]+)", DOCKERFILE, re.MULTILINE)
    named += [one.partition("=")[2] for one in CONDA["dependencies"] if "python" in one]
    assert len(named) >= 4
    assert set(named) == {PROJECT["requires-python"].removeprefix(">=")}


def test_conda_leaves_the_list_to_pip():
    *others, pip = CONDA["dependencies"]
    assert [one.partition("=")[0] for one in others] == ["python", "pip"]
    assert pip["pip"] == ["--constraint constraints.txt", "--editable .[dev]"]
    assert "dev" in PROJECT["optional-dependencies"]
    assert CONDA["name"] == PROJECT["name"]


def test_the_image_installs_the_course_under_the_lock_and_what_a_hub_needs():
    (install,) = [line for line in LINES if line[:3] == ["RUN", "pip", "install"]]
    rest = [one for one in install[3:] if one != "--no-cache-dir"]
    assert rest[:3] == ["--constraint", "constraints.txt", "."]
    names = {one.strip('"').partition("==")[0] for one in rest[3:]}
    assert names - locked() == HUB_ONLY
    pinned = {line[1].partition("=")[0].lower() for line in LINES if line[0] == "ARG"}
    assert pinned == HUB_ONLY


def test_the_images_run_as_somebody_without_rights():
    (user,) = [line for line in LINES if line[:2] == ["RUN", "useradd"]]
    assert user[user.index("--uid") + 1] == "1000"
    for stage in " ".join(" ".join(line) + "\n" for line in LINES).split("FROM ")[1:]:
        assert re.findall(r"USER (\w+)", stage)[-1] == user[-1] == "jovyan"


def test_the_container_for_development_is_a_stage_of_the_image_and_runs_make():
    build = CONTAINER["build"]
    assert build["target"] in stages()
    assert (ROOT / ".devcontainer" / build["dockerfile"]).resolve() == ROOT / "Dockerfile"
    assert (ROOT / ".devcontainer" / build["context"]).resolve() == ROOT
    assert CONTAINER["postCreateCommand"] == "make env"
    assert re.search(r"^env:", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    port = re.search(r"^PORT \?= (\d+)", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)[1]
    assert CONTAINER["forwardPorts"] == [int(port)]


def test_docker_is_sent_what_is_copied_and_no_more():
    lines = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    assert {line[1:] for line in lines if line[0] == "!"} == set(copied())
    assert "*" in lines


@pytest.mark.slow
def test_what_is_copied_makes_the_whole_package(tmp_path):
    """The wheel of these files alone has every module that they are."""
    pytest.importorskip("setuptools", minversion="77", reason="setuptools 77 builds the package")
    source = tmp_path / "course"
    files = listed(*copied())
    for file in files:
        target = source / file
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes((ROOT / file).read_bytes())
    built = wheel(source, tmp_path / "out")
    assert built >= {file for file in files if file.endswith(".py")}
    assert {"solutions/softmax.py", "autograder/cli/__init__.py", "book/figures/style.py"} <= built


def listed(*paths: str) -> list[str]:
    """List the files of the repository under some paths; each path has some."""
    for path in paths:
        assert (ROOT / path).exists()
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *paths]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip("not a git repository: which files belong to it is not known")
    return done.stdout.splitlines()


def wheel(source: Path, out: Path) -> set[str]:
    """Build a package's wheel without a network and name the files in it."""
    program = "import sys; from setuptools.build_meta import build_wheel; build_wheel(sys.argv[1])"
    out.mkdir()
    subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program, str(out)],
        cwd=source, check=True, capture_output=True,
    )  # fmt: skip
    (path,) = out.glob("*.whl")
    with zipfile.ZipFile(path) as archive:
        return set(archive.namelist())
