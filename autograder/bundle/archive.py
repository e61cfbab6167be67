"""Files -> a zip whose bytes depend on the files alone: no clock, no order of a folder."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping

FIRST_DAY = (1980, 1, 1, 0, 0, 0)  # the earliest that the format knows
UNIX = 3
READABLE = 0o100644 << 16


def zipped(files: Mapping[str, bytes]) -> bytes:
    """Pack files, by their path with forward slashes."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for path in sorted(files):
            entry = zipfile.ZipInfo(path, FIRST_DAY)
            entry.create_system, entry.external_attr = UNIX, READABLE
            archive.writestr(entry, files[path], zipfile.ZIP_DEFLATED, compresslevel=9)
    return out.getvalue()
