"""Names inside an archive -> names that are safe to write below a folder."""

from __future__ import annotations

import re
import unicodedata
import zipfile
from pathlib import PurePosixPath

LEFTOVER = re.compile(r"^(?:__MACOSX|\..*|Thumbs\.db|desktop\.ini|__pycache__)$")
UTF8_FLAG = 0x800
LONGEST_PART = 200  # bytes; file systems take 255, and a copy may get a number
DEEPEST = 20


def name_of(member: zipfile.ZipInfo) -> str:
    """Give the name as it was meant: many programs write UTF-8 without saying so."""
    if member.flag_bits & UTF8_FLAG:
        return member.filename
    try:
        return member.filename.encode("cp437").decode("utf-8")
    except UnicodeError:
        return member.filename


def is_leftover(name: str) -> bool:
    """Whether a system or an editor gave a file or folder this name, not a person."""
    return LEFTOVER.match(name) is not None


def safe_path(name: str) -> PurePosixPath | None:
    """Give the place of a member below the folder it is unpacked to, or None if it has none.

    Absolute names, drives, and `..` have none. What no file system takes is replaced.
    """
    parts = [part for part in re.split(r"[/\\]", name) if part != "."]
    if parts and parts[-1] == "":
        parts.pop()
    absolute = not parts or parts[0] == "" or re.match(r"^[A-Za-z]:", parts[0])
    if absolute or ".." in parts or len(parts) > DEEPEST:
        return None
    return PurePosixPath(*(_safe_part(part) for part in parts))


def in_words(text: str, longest: int = 80) -> str:
    """Make a name fit for one line of a message, whatever letters are in it."""
    line = "".join(letter if letter.isprintable() else "?" for letter in text)
    return line if len(line) <= longest else f"{line[: longest - 20]}...{line[-17:]}"


def _safe_part(part: str) -> str:
    text = "".join("_" if unicodedata.category(one) in ("Cc", "Cs") else one for one in part)
    text = re.sub(r'[<>:"|?*]', "_", text).rstrip(". ") or "_"
    if len(text.encode()) <= LONGEST_PART:
        return text
    stem, dot, suffix = text.rpartition(".")
    end = f"{dot}{suffix}" if len(suffix) <= 10 else ""
    start = (stem if end else text).encode()[: LONGEST_PART - len(end.encode())]
    return start.decode("utf-8", "ignore") + end
