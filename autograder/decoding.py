"""Bytes of a text file -> text, whichever editor wrote it."""

from __future__ import annotations

import codecs
import json

from autograder.unreadable import Unreadable


def as_utf8(data: bytes) -> bytes:
    """Recode UTF-16 and UTF-32, with byte-order mark or without, and drop marks.

    What is neither is given back as it is. Raises Unreadable.
    """
    encoding = json.detect_encoding(data)
    if not encoding.startswith("utf-8"):
        try:
            # Half of a surrogate pair is no reason to refuse a file: it becomes a question mark.
            data = data.decode(encoding, "surrogatepass").encode("utf-8", "surrogatepass")
        except UnicodeDecodeError as error:
            raise Unreadable(
                f"not text in {encoding}: {error.reason} at byte {error.start + 1}; "
                "save the notebook again as UTF-8"
            ) from error
    while data.startswith(codecs.BOM_UTF8):
        data = data[len(codecs.BOM_UTF8) :]
    return data


def as_text(data: bytes) -> tuple[str, str]:
    """Decode UTF-8, or else what old Windows programs wrote; return the text and a note."""
    try:
        return data.decode("utf-8", "surrogatepass").strip("\x00"), ""
    except UnicodeDecodeError as error:
        before = data[: error.start]
        line, column = before.count(b"\n") + 1, error.start - before.rfind(b"\n")
        byte = f"byte 0x{data[error.start]:02x} in line {line} column {column} is not UTF-8"
        note = f"{byte}: the file was read as Windows-1252, letters with accents may be wrong"
        return data.decode("cp1252", "replace").strip("\x00"), note
