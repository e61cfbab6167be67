"""Folders that students filled, in any way, are measured and removed."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.runner import scratch

names = st.text(
    st.characters(exclude_characters="/\0", exclude_categories=["Cs"]), min_size=1, max_size=5
)
names = names.filter(lambda name: name not in (".", ".."))
leaves = st.sampled_from(["file", "link", "fifo", "closed"])
folders = st.recursive(
    leaves, lambda below: st.dictionaries(names, below, max_size=4), max_leaves=12
).filter(lambda tree: isinstance(tree, dict))


def build(place: Path, tree) -> None:
    for name, below in tree.items():
        path = place / name
        if isinstance(below, dict):
            path.mkdir()
            build(path, below)
        elif below == "file":
            path.write_text("x")
        elif below == "link":
            path.symlink_to("/")
        elif below == "fifo":
            os.mkfifo(path)
        else:
            path.mkdir()
            (path / "inner").mkdir(mode=0)
            path.chmod(0)


@given(tree=folders)
def test_any_tree_is_removed(tree, tmp_path_factory):
    folder = tmp_path_factory.mktemp("scratch")
    build(folder, tree)
    assert not scratch.is_overfull(str(folder)) or "closed" in str(tree)
    scratch.remove(str(folder))
    assert not folder.exists()


def test_what_links_point_to_stays(tmp_path):
    kept = tmp_path / "kept"
    kept.mkdir()
    (kept / "file").write_text("x")
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "link").symlink_to(kept)
    scratch.remove(str(folder))
    assert (kept / "file").read_text() == "x"
    assert not folder.exists()


def test_a_deep_tree_is_too_much_and_is_removed(tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    here = os.open(folder, os.O_RDONLY)
    for _ in range(3000):
        os.mkdir("deeper", dir_fd=here)
        below = os.open("deeper", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(here)
    assert scratch.is_overfull(str(folder))
    scratch.remove(str(folder))
    assert not folder.exists()


@pytest.mark.parametrize(
    ("count", "size"), [(scratch.MOST_ENTRIES + 1, 0), (1, scratch.MOST_BYTES + 1)]
)
def test_too_many_files_and_too_many_bytes_are_too_much(count, size, tmp_path):
    for number in range(count):
        (tmp_path / str(number)).write_bytes(bytes(size))
    assert scratch.is_overfull(str(tmp_path))
    (tmp_path / "0").unlink()
    assert not scratch.is_overfull(str(tmp_path))


def test_a_folder_that_is_gone_is_no_error(tmp_path):
    gone = str(tmp_path / "gone")
    scratch.remove(gone)
    assert not scratch.is_overfull(gone)
