"""Zip files from a learning platform or a student -> files, whatever was put into them.

A member that cannot be had leaves a file under its name that says why, so that the student whose
work it is gets an answer. Sizes are counted while unpacking; what an archive claims is not trusted.
"""

from __future__ import annotations

import io
import re
import stat
import struct
import sys
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from autograder.membernames import in_words, is_leftover, name_of, safe_path
from autograder.unreadable import Unreadable
from autograder.usage import UsageError

LEFT_OUT = b"left out while unpacking: "
LARGEST_MEMBER = 100_000_000
LARGEST_TOTAL = 4_000_000_000
MOST_MEMBERS = 100_000
MOST_IN_STUDENTS_ZIP = 2_000
BOMB_SIZE, BOMB_RATIO = 20_000_000, 200  # a bomb is larger, and larger than packed by this factor
READ_KINDS = (".ipynb", ".py", ".zip", ".txt", ".json", ".yml")  # of the others only names are used
DIRECTORY_ENTRY = b"PK\x01\x02"
CHUNK = 1 << 20
BROKEN = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    LookupError,
    NotImplementedError,
    OSError,
    OverflowError,
    RuntimeError,
    ValueError,
)
NEXT = "pack it again, without a password"


class LeftOut(ValueError):  # noqa: N818 - what happened, not that it is an error
    """A member is not unpacked; the message says why."""


@contextmanager
def opened(submitted: Path, tell: Callable[[str], object] | None = None) -> Iterator[Path]:
    """Give the folder of a class: the folder itself, or a zip unpacked for as long as it is used.

    tell  is called with one line for each member that was left out; stderr if not given

    Raises UsageError.
    """
    if submitted.is_dir():
        yield submitted
        return
    if not submitted.is_file():
        raise UsageError(f"there is no folder and no zip {submitted}")
    with tempfile.TemporaryDirectory(prefix="submissions-") as folder:
        for line in unpack(submitted, Path(folder)):
            (tell or _to_stderr)(line)
        yield Path(folder)


def unpack(archive: Path, folder: Path) -> list[str]:
    """Unpack a zip into an empty folder; return a line for each member that was left out.

    Raises UsageError if it is no zip, or has too many members.
    """
    try:
        with archive.open("rb") as file, zipfile.ZipFile(file) as opened_zip:
            members = opened_zip.infolist()
            if len(members) > MOST_MEMBERS:
                raise UsageError(f"{archive} holds more than {MOST_MEMBERS:,} files: divide it")
            work = _Unpacking(opened_zip, folder)
            for member in members:
                work.take(member)
    except (*BROKEN, MemoryError) as error:
        if isinstance(error, UsageError):
            raise
        why = f"it is no zip file that can be read ({error})"
        raise UsageError(f"{archive}: {why}; download it again, or give a folder") from error
    return work.told


def only_notebook(data: bytes) -> tuple[str, bytes]:
    """Take the one notebook out of a zip that a student handed in: its name and its bytes.

    Raises Unreadable if there is none, or more than one, or if it cannot be unpacked.
    """
    if data.count(DIRECTORY_ENTRY) > MOST_IN_STUDENTS_ZIP:
        raise Unreadable(f"a zip archive with more than {MOST_IN_STUDENTS_ZIP:,} files: {NEXT}")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as opened_zip:
            member = _only(opened_zip.infolist())
            return name_of(member), b"".join(_chunks(opened_zip, member))
    except LeftOut as error:
        raise Unreadable(f"in the zip archive, {error}; hand in the notebook itself") from error
    except BROKEN as error:
        if isinstance(error, Unreadable):
            raise
        text = f"a zip archive that cannot be read ({in_words(str(error))})"
        raise Unreadable(f"{text}: hand in the notebook itself") from error


def _only(members: list[zipfile.ZipInfo]) -> zipfile.ZipInfo:
    names = [(name_of(member), member) for member in members if not member.is_dir()]
    there = [pair for pair in names if not any(map(is_leftover, re.split(r"[/\\]", pair[0])))]
    found = [pair for pair in there if pair[0].lower().endswith(".ipynb")]
    if len(found) == 1:
        return found[0][1]
    shown = ", ".join(in_words(name) for name, _ in (found or there)[:5]) or "nothing"
    what = f"{len(found)} notebooks" if found else "no notebook"
    raise Unreadable(f"a zip archive with {what} ({shown}): hand in one .ipynb file")


def _to_stderr(line: str) -> None:
    print(line, file=sys.stderr)


# One member


@dataclass
class _Unpacking:
    """An archive on its way into a folder."""

    source: zipfile.ZipFile
    folder: Path
    told: list[str] = field(default_factory=list)
    size: int = 0
    taken: set[str] = field(default_factory=set)  # in lower case: some systems know no other

    def take(self, member: zipfile.ZipInfo) -> None:
        """Write one member, or why not."""
        name = name_of(member)
        place = safe_path(name)
        if place is None:
            self._tell(name, "its name leads out of the archive or nowhere")
        elif not any(is_leftover(part) for part in place.parts):
            try:
                self._write(member, name, place)
            except OSError as error:  # a file where a folder should be, a full disk
                self._tell(name, f"it cannot be written ({error.strerror})")

    def _write(self, member: zipfile.ZipInfo, name: str, place: PurePosixPath) -> None:
        if name.endswith(("/", "\\")):
            (self.folder / place).mkdir(parents=True, exist_ok=True)
            return
        free = self._free(place)
        if free != place:
            self._tell(name, f"another file has this name; it was unpacked as {free.name}")
        target = self.folder / free
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("xb") as file:
            if not place.name.lower().endswith(READ_KINDS):
                return
            try:
                for chunk in _chunks(self.source, member):
                    self._count(chunk)
                    file.write(chunk)
            except (LeftOut, *BROKEN) as error:
                file.seek(0)
                file.truncate()
                file.write(LEFT_OUT + str(error).encode("utf-8", "replace"))
                self._tell(name, str(error))

    def _count(self, chunk: bytes) -> None:
        if self.size + len(chunk) > LARGEST_TOTAL:
            raise LeftOut(f"the archive unpacks to more than {LARGEST_TOTAL // 10**9} GB")
        self.size += len(chunk)

    def _free(self, place: PurePosixPath) -> PurePosixPath:
        number, free = 1, place
        while str(free).casefold() in self.taken:
            number += 1
            free = place.with_name(f"{place.stem} ({number}){place.suffix}")
        self.taken.add(str(free).casefold())
        return free

    def _tell(self, name: str, why: str) -> None:
        self.told.append(f"{in_words(name)}: {why}")


def _chunks(source: zipfile.ZipFile, member: zipfile.ZipInfo) -> Iterator[bytes]:
    """Unpack a member piece by piece. Raises LeftOut, or what a broken archive raises."""
    kind = stat.S_IFMT(member.external_attr >> 16)
    if kind not in (0, stat.S_IFREG):
        raise LeftOut("it is a link or a device, not a file; hand in the file itself")
    if member.flag_bits & 1:
        raise LeftOut(f"it is locked by a password; {NEXT}")
    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise LeftOut("it is packed in an unusual way; pack it again as an ordinary zip")
    size = 0
    with source.open(member) as file:
        while chunk := file.read(CHUNK):
            size += len(chunk)
            if size > LARGEST_MEMBER:
                raise LeftOut(f"it is larger than {LARGEST_MEMBER // 10**6} MB; clear its outputs")
            if size > BOMB_SIZE and size > BOMB_RATIO * max(member.compress_size, 1):
                raise LeftOut(f"it unpacks to over {BOMB_RATIO} times its size; clear its outputs")
            yield chunk
