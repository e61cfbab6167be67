"""The workflows of GitHub say what `make` says; none of them can be run here, so they are read."""

import re
import sys
from fnmatch import fnmatch
from typing import Any

import pytest
import yaml
from machine import ROOT

sys.path.insert(0, str(ROOT / "book" / "_ext"))
import freshness

FILES = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
TARGETS = re.search(r"^\.PHONY: (.+)$", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M)[1]

# What each action was read to be at its source; another one, or another version, is a decision.
ACTIONS = {
    "actions/checkout@v7",
    "actions/setup-python@v7",
    "actions/cache@v6",
    "actions/upload-artifact@v7",
    "actions/upload-pages-artifact@v5",
    "actions/deploy-pages@v5",
    "lycheeverse/lychee-action@v2",
}
READS = {"contents": "read"}
WRITES = {"pages": "write", "id-token": "write"}  # for the job that publishes, and no other

Node = dict[str, Any]


def parsed(name: str) -> Node:
    """Read a workflow. YAML 1.1 takes the key `on` for the value true."""
    text = (ROOT / ".github" / "workflows" / name).read_text(encoding="utf-8")
    return {"on" if key is True else key: value for key, value in yaml.safe_load(text).items()}


def jobs() -> list[tuple[str, Node]]:
    found = [(file.name, parsed(file.name)["jobs"]) for file in FILES]
    return [(f"{name}: {job}", node) for name, all_ in found for job, node in all_.items()]


def steps() -> list[Node]:
    return [step for _, job in jobs() for step in job["steps"]]


def problems(job: Node) -> list[str]:
    """Name what is wrong with a job's steps."""
    uses = [step["uses"] for step in job["steps"] if "uses" in step]
    runs = [line for step in job["steps"] for line in step.get("run", "").splitlines()]
    found = [f"unknown action {one}" for one in uses if one not in ACTIONS]
    found += [f"unknown command {line}" for line in runs if not is_target(line)]
    return found


def is_target(line: str) -> bool:
    word, _, target = line.partition(" ")
    return word == "make" and target in TARGETS.split()


def test_there_are_workflows():
    assert [file.stem for file in FILES] == ["book", "links", "tests"]


@pytest.mark.parametrize(("name", "job"), jobs())
def test_a_job_has_known_actions_and_commands_and_a_time_limit(name, job):
    assert problems(job) == []
    assert job["timeout-minutes"] <= 120
    assert job["runs-on"] == "ubuntu-24.04"


@pytest.mark.parametrize("step", [{"uses": "actions/checkout@main"}, {"run": "make all\nmake boo"}])
def test_an_unknown_step_is_found(step):
    assert len(problems({"steps": [step]})) == 1


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_a_workflow_may_only_read(file):
    assert parsed(file.name)["permissions"] == READS


def test_only_the_job_that_publishes_may_write():
    asked = {name: job["permissions"] for name, job in jobs() if "permissions" in job}
    assert asked == {"book.yml: publish": WRITES}
    assert "secrets." not in "".join(file.read_text(encoding="utf-8") for file in FILES)


def test_it_publishes_the_main_branch_and_no_pull_request():
    book, config = parsed("book.yml"), yaml.safe_load((ROOT / "_config.yml").read_text("utf-8"))
    branch = config["repository"]["branch"]
    for name in ("book.yml", "tests.yml"):
        assert parsed(name)["on"]["push"]["branches"] == [branch]
    publish = book["jobs"]["publish"]
    assert f"github.ref == 'refs/heads/{branch}'" in publish["if"]
    assert "github.event_name != 'pull_request'" in publish["if"]
    assert publish["needs"] == "build"
    assert publish["concurrency"] == {"group": "pages", "cancel-in-progress": False}


def test_a_pull_request_is_tested_and_its_book_can_be_looked_at():
    assert "pull_request" in parsed("tests.yml")["on"]
    assert "pull_request" in parsed("book.yml")["on"]
    (preview,) = [one for one in steps() if one.get("uses", "").startswith("actions/upload-artif")]
    assert preview["if"] == "github.event_name == 'pull_request'"


def test_what_is_uploaded_is_what_make_builds():
    uploads = [one for one in steps() if "upload-" in one.get("uses", "")]
    assert {one["with"]["path"] for one in uploads} == {"_build/html"}
    assert len(uploads) == 2


def test_what_is_kept_of_a_build_depends_on_all_code_and_all_text():
    (cache,) = [one["with"] for one in steps() if one.get("uses", "").startswith("actions/cache")]
    code, text = [re.findall(r"'([^']+)'", part) for part in cache["key"].split("}}-")]
    assert cache["key"].startswith(cache["restore-keys"].strip())
    assert cache["path"] == "_build/.jupyter_cache"
    for folder in freshness.CODE:
        assert f"{folder}/**/*.py" in code
    assert "constraints.txt" in code
    assert text == ["book/*.md"]


def test_packages_are_kept_until_their_list_changes():
    pythons = [one["with"] for one in steps() if "setup-python" in one.get("uses", "")]
    assert pythons
    for one in pythons:
        assert one["cache-dependency-path"].split() == ["pyproject.toml", "constraints.txt"]


def test_links_are_checked_weekly_where_they_stand():
    links = parsed("links.yml")
    (when,) = links["on"]["schedule"]
    assert re.fullmatch(r"\d+ \d+ \* \* [0-6]", when["cron"])
    (arguments,) = [one["with"]["args"] for one in steps() if "lychee" in one.get("uses", "")]
    globs = [one.removeprefix("./") for one in re.findall(r"'(\./[^']+)'", arguments)]
    texts = ["README.md", "book/index.md", "book/references.bib", "docs/decisions/0001.md"]
    for text in texts:
        assert any(fnmatch(text, one.replace("**/", "*")) for one in globs)
