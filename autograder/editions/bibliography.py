"""Citation keys -> "[Vaswani et al., 2017](link)", from the book's BibTeX file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from pybtex.database import Entry, parse_file


def citations(path: Path) -> dict[str, str]:
    """Read every entry of a BibTeX file."""
    entries = parse_file(str(path), bib_format="bibtex").entries
    return {key: _linked(entry) for key, entry in entries.items()}


def _linked(entry: Entry) -> str:
    text = f"{_authors(entry)}, {entry.fields['year']}"
    link = _link(entry.fields)
    return f"[{text}]({link})" if link else text


def _link(fields: Mapping[str, str]) -> str:
    if "eprint" in fields:
        return f"https://arxiv.org/abs/{fields['eprint']}"
    if "doi" in fields:
        return f"https://doi.org/{fields['doi']}"
    return fields.get("url", "")


def _authors(entry: Entry) -> str:
    names = [" ".join(map(str, person.rich_last_names)) for person in entry.persons["author"]]
    if len(names) > 2:
        return f"{names[0]} et al."
    return " and ".join(names)
