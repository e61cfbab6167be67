"""Names of students as nbgrader can keep them."""

from __future__ import annotations

import hashlib
import re

# nbgrader looks for files with glob, fills folder names in with format, and writes CSV unquoted;
# a control character or half a surrogate pair fits neither a file's name nor a database.
UNSAFE = re.compile(r"[\[\]*?{}+,\"'\\/:<>|\x00-\x1f\x7f-\x9f\ud800-\udfff]")
LONGEST_BYTES = 100  # a column of the gradebook takes 128 characters, a folder's name 255 bytes


def safe_name(student: str) -> str:
    """Make a name that nbgrader can use for a student's folder; most names stay as they are."""
    clean = UNSAFE.sub("_", student).strip().lstrip(".")
    clean = clean.encode()[:LONGEST_BYTES].decode(errors="ignore").strip()
    if clean and clean == student:
        return student
    digest = hashlib.sha256(student.encode(errors="surrogatepass")).hexdigest()
    return f"{clean or 'student'}-{digest[:6]}"
