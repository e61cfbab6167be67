"""Whatever is in an archive stays in its folder, and what is left out is told."""

import io
import stat
import warnings
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder import archives
from autograder.archives import LEFT_OUT, only_notebook, opened, unpack
from autograder.membernames import LONGEST_PART, in_words, safe_path
from autograder.unreadable import Unreadable
from autograder.usage import UsageError

Members = list[tuple[str | zipfile.ZipInfo, bytes]]


def packed(members: Members, method: int = zipfile.ZIP_DEFLATED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as file, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # two members of one name are meant
        for name, content in members:
            file.writestr(name, content)
    return out.getvalue()


def unpacked(tmp_path: Path, data: bytes) -> tuple[dict[str, bytes], list[str]]:
    """Unpack; return the files by name, and what was told."""
    (tmp_path / "class.zip").write_bytes(data)
    folder = tmp_path / "out"
    folder.mkdir()
    told = unpack(tmp_path / "class.zip", folder)
    found = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in found}, told


def link(name: str) -> zipfile.ZipInfo:
    member = zipfile.ZipInfo(name)
    member.create_system = 3
    member.external_attr = (stat.S_IFLNK | 0o777) << 16
    return member


def test_a_class_is_unpacked_for_as_long_as_it_is_used(tmp_path: Path) -> None:
    path = tmp_path / "class.zip"
    path.write_bytes(packed([("ada/hw.ipynb", b"{}"), ("ben/hw.ipynb", b"{}")]))
    with opened(path) as folder:
        assert sorted(one.name for one in folder.iterdir()) == ["ada", "ben"]
    assert not folder.exists()


def test_a_folder_is_given_back_as_it_is(tmp_path: Path) -> None:
    with opened(tmp_path) as folder:
        assert folder == tmp_path


@pytest.mark.parametrize(
    "data",
    [b"", b"text", b"PK\x03\x04cut off", packed([("a", b"")])[:-9]],
    ids=["nothing", "text", "cut off", "short"],  # the bytes hold the time of day
)
def test_what_is_no_zip_is_refused(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "class.zip").write_bytes(data)
    broken = pytest.raises(UsageError, match="no zip file that can be read")
    with broken, opened(tmp_path / "class.zip"):
        pass


def test_nothing_at_all_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no folder and no zip"), opened(tmp_path / "x"):
        pass


def test_what_is_left_out_goes_to_the_one_who_called(tmp_path: Path) -> None:
    path = tmp_path / "class.zip"
    path.write_bytes(packed([("../evil.ipynb", b"{}")]))
    told: list[str] = []
    with opened(path, told.append) as folder:
        assert list(folder.iterdir()) == []
    assert told == ["../evil.ipynb: its name leads out of the archive or nowhere"]


@pytest.mark.parametrize(
    "name", ["/etc/x.ipynb", "../x.ipynb", "a/../../x.ipynb", "C:\\x.ipynb", "..\\x.ipynb", "\\\\a"]
)
def test_a_name_that_leads_out_is_not_unpacked(tmp_path: Path, name: str) -> None:
    files, told = unpacked(tmp_path, packed([(name, b"{}"), ("ada/hw.ipynb", b"{}")]))
    assert files == {"ada/hw.ipynb": b"{}"}
    assert "leads out" in told[0]


def test_a_link_becomes_a_file_that_says_so(tmp_path: Path) -> None:
    files, told = unpacked(tmp_path, packed([(link("ada/hw.ipynb"), b"/etc/passwd")]))
    assert files["ada/hw.ipynb"].startswith(LEFT_OUT + b"it is a link")
    assert told[0].startswith("ada/hw.ipynb: it is a link or a device")
    assert not (tmp_path / "out/ada/hw.ipynb").is_symlink()


def test_a_locked_member_says_so(tmp_path: Path) -> None:
    data = bytearray(packed([("ada/hw.ipynb", b"{}")]))
    for header, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.index(header) + flags] |= 1
    files, told = unpacked(tmp_path, bytes(data))
    assert b"password" in files["ada/hw.ipynb"]
    assert "locked by a password" in told[0]


@pytest.mark.parametrize("method", [zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2])
def test_packing_that_may_take_any_memory_is_left_out(tmp_path: Path, method: int) -> None:
    _, told = unpacked(tmp_path, packed([("ada/hw.ipynb", b"{}")], method))
    assert "packed in an unusual way" in told[0]


def test_damage_costs_only_the_member_that_has_it(tmp_path: Path) -> None:
    data = packed([("ada/hw.ipynb", b"ada"), ("ben/hw.ipynb", b"ben")], zipfile.ZIP_STORED)
    files, told = unpacked(tmp_path, data.replace(b"ada", b"ADA", 2).replace(b"ADA/", b"ada/"))
    assert files["ben/hw.ipynb"] == b"ben"
    assert files["ada/hw.ipynb"].startswith(LEFT_OUT + b"Bad CRC")
    assert len(told) == 1


def test_a_bomb_is_stopped_while_it_unpacks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archives, "BOMB_SIZE", 2 << 20)
    bomb = packed([("ada/hw.ipynb", bytes(20 << 20)), ("ben/hw.ipynb", b"{}")])
    files, told = unpacked(tmp_path, bomb)
    assert files["ben/hw.ipynb"] == b"{}"
    assert b"over 200 times its size" in files["ada/hw.ipynb"]
    assert told[0].endswith("clear its outputs")


def test_sizes_are_limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "LARGEST_MEMBER", 10_000)
    monkeypatch.setattr(archives, "LARGEST_TOTAL", 12_000)
    data = packed(
        [("a.ipynb", bytes(10_001)), ("b.ipynb", bytes(9_000)), ("c.ipynb", bytes(9_000))]
    )
    files, told = unpacked(tmp_path, data)
    assert [len(files[name]) == 9_000 for name in ("a.ipynb", "b.ipynb", "c.ipynb")] == [
        False,
        True,
        False,
    ]
    assert len(told) == 2


def test_the_number_of_members_is_limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "MOST_MEMBERS", 2)
    with pytest.raises(UsageError, match="more than 2 files: divide it"):
        unpacked(tmp_path, packed([(f"{n}.ipynb", b"") for n in range(3)]))


def test_a_false_size_in_the_header_gains_nothing(tmp_path: Path) -> None:
    data = bytearray(packed([("ada/hw.ipynb", bytes(1_000))]))
    for header, place in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        at = data.index(header) + place
        data[at : at + 4] = (1).to_bytes(4, "little")
    files, told = unpacked(tmp_path, bytes(data))
    assert files["ada/hw.ipynb"].startswith(LEFT_OUT)
    assert len(told) == 1


def test_names_that_differ_in_case_or_not_at_all_are_both_kept(tmp_path: Path) -> None:
    data = packed([("ada/hw.ipynb", b"1"), ("ada/HW.ipynb", b"2"), ("ada/hw.ipynb", b"3")])
    files, told = unpacked(tmp_path, data)
    assert sorted(files.values()) == [b"1", b"2", b"3"]
    assert len(told) == 2
    assert "another file has this name" in told[0]


def test_what_systems_add_is_not_unpacked(tmp_path: Path) -> None:
    data = packed([("__MACOSX/ada/._hw.ipynb", b""), ("ada/.DS_Store", b""), ("ada/a.pdf", b"x")])
    files, told = unpacked(tmp_path, data)
    assert files == {"ada/a.pdf": b""}  # its name is all that is needed
    assert told == []


def test_a_file_where_a_folder_should_be_is_told(tmp_path: Path) -> None:
    files, told = unpacked(tmp_path, packed([("ada", b""), ("ada/hw.ipynb", b"{}")]))
    assert list(files) == ["ada"]
    assert "cannot be written" in told[0]


def test_names_are_read_as_they_were_meant(tmp_path: Path) -> None:
    raw = packed([("Zoe_/hw.ipynb", b"1")]).replace(b"Zoe_", "Zoë".encode())
    files, _ = unpacked(tmp_path, raw)
    assert list(files) == ["Zoë/hw.ipynb"]


def test_the_old_encoding_of_names_is_read(tmp_path: Path) -> None:
    raw = packed([("Zoe/hw.ipynb", b"1")]).replace(b"Zoe", "Zoë".encode("cp437"))
    files, _ = unpacked(tmp_path, raw)
    assert list(files) == ["Zoë/hw.ipynb"]


def test_a_long_name_is_cut_but_keeps_its_ending(tmp_path: Path) -> None:
    files, _ = unpacked(tmp_path, packed([("ada/" + "é" * 300 + ".ipynb", b"{}")]))
    (name,) = files
    assert name.endswith(".ipynb")
    assert len(name.encode()) <= LONGEST_PART + len("ada/")


@given(st.text(max_size=60) | st.text("./\\:C ~\x00\n", max_size=30))
def test_no_name_escapes(name: str) -> None:
    place = safe_path(name)
    if place is not None:
        assert not place.is_absolute()
        assert ".." not in place.parts
        assert all(part.strip() and "\x00" not in part for part in place.parts)
        assert in_words(str(place)).isprintable()


NAMES = st.text("aA./\\:~ é\n", min_size=1, max_size=12)


@given(st.lists(st.tuples(NAMES, st.binary(max_size=20)), max_size=6))
def test_no_archive_writes_outside(
    tmp_path_factory: pytest.TempPathFactory, members: list[tuple[str, bytes]]
) -> None:
    base = tmp_path_factory.mktemp("any")
    files, _ = unpacked(base, packed([*members]))
    assert {path.name for path in base.iterdir()} == {"class.zip", "out"}
    assert len(files) <= len(members)


@given(st.data())
def test_a_damaged_archive_ends_in_words(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    whole = bytearray(packed([("ada/hw.ipynb", b"{}" * 50), ("ben/hw.ipynb", b"[]")]))
    for at in data.draw(st.lists(st.integers(0, len(whole) - 1), max_size=4)):
        whole[at] = data.draw(st.integers(0, 255))
    try:
        files, told = unpacked(tmp_path_factory.mktemp("any"), bytes(whole))
    except UsageError:
        return
    assert all(line.isprintable() for line in told)
    assert len(files) <= 2


# A zip that a student handed in


def test_the_only_notebook_is_taken_out() -> None:
    extras = [("work/torch.py", b""), ("work/.ipynb_checkpoints/hw-checkpoint.ipynb", b"old")]
    assert only_notebook(packed([("work/hw.ipynb", b"{}"), *extras])) == ("work/hw.ipynb", b"{}")


@pytest.mark.parametrize(
    ("members", "reason"),
    [
        ([], r"no notebook \(nothing\): hand in one"),
        ([("a.py", b"")], r"no notebook \(a.py\)"),
        ([("a.ipynb", b""), ("b.ipynb", b"")], r"2 notebooks \(a.ipynb, b.ipynb\)"),
        ([("b.zip", packed([("a.ipynb", b"")]))], r"no notebook \(b.zip\)"),
        ([(link("a.ipynb"), b"/etc/passwd")], "it is a link or a device"),
        ([("a.ipynb", bytes(90_000_000))], "over 200 times its size"),
    ],
)
def test_another_zip_is_told_why_not(members: Members, reason: str) -> None:
    with pytest.raises(Unreadable, match=reason):
        only_notebook(packed(members))


def test_a_students_zip_of_too_many_files_is_not_even_listed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(archives, "MOST_IN_STUDENTS_ZIP", 2)
    with pytest.raises(Unreadable, match="more than 2 files"):
        only_notebook(packed([(f"{n}.ipynb", b"") for n in range(3)]))


@given(st.binary(max_size=200))
def test_any_bytes_of_a_students_zip_end_in_words(data: bytes) -> None:
    with pytest.raises(Unreadable, match="a zip archive that cannot be read"):
        only_notebook(b"PK\x03\x04" + data)
