"""Whether bytes are a PNG picture, by its structure; its pixels are not decoded."""

from __future__ import annotations

import zlib

SIGNATURE = b"\x89PNG\r\n\x1a\n"
LARGEST_SIDE = 10_000  # pixels


def is_png(data: bytes) -> bool:
    """Whether data is whole chunks from IHDR to IEND, with right checksums and nothing behind."""
    if not data.startswith(SIGNATURE):
        return False
    names, at = [], len(SIGNATURE)
    while at + 12 <= len(data):
        end = at + 12 + int.from_bytes(data[at : at + 4], "big")
        if end > len(data) or not _is_sound(data[at + 4 : end]):
            return False
        names.append(data[at + 4 : at + 8])
        at = end
    whole = at == len(data) and names[:1] == [b"IHDR"] and names[-1] == b"IEND"
    return whole and names.count(b"IEND") == 1 and _is_small(data)


def _is_sound(chunk: bytes) -> bool:
    return zlib.crc32(chunk[:-4]) == int.from_bytes(chunk[-4:], "big")


def _is_small(data: bytes) -> bool:
    sides = (int.from_bytes(data[at : at + 4], "big") for at in (16, 20))
    return all(0 < side <= LARGEST_SIDE for side in sides)
