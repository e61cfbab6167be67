"""Citation keys -> "Vaswani et al., 2017", from the book's BibTeX file."""

from __future__ import annotations

from pathlib import Path

from pybtex.database import Entry, parse_file


def citations(path: Path) -> dict[str, str]:
    """Read every entry of a BibTeX file."""
    entries = parse_file(str(path), bib_format="bibtex").entries
    return {key: f"{_authors(entry)}, {entry.fields['year']}" for key, entry in entries.items()}


def _authors(entry: Entry) -> str:
    names = [" ".join(person.last_names) for person in entry.persons["author"]]
    if len(names) > 2:
        return f"{names[0]} et al."
    return " and ".join(names)
