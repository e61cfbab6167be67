"""Changed answers of chapter 12 that compute the same function, and why.

The changed line, exactly as it is printed -> the reason.
"""

EQUIVALENT: dict[str, dict[str, str]] = {}
