"""How to cite, the licences, and the list of corrected errors."""

import re
import tomllib

import yaml
from machine import ROOT

CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
CONFIG = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
ERRATA = (ROOT / "book" / "errata.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| (?P<date>[^|]+) \| (?P<version>[^|]+) \|(?:[^|]+\|){3}$", re.MULTILINE)
NONE_YET = "No published version has been corrected so far."

REQUIRED = {"cff-version", "message", "title", "authors"}  # by the schema of CFF 1.2.0
OURS = {"type", "abstract", "version", "license", "repository-code", "keywords"}


def test_the_citation_has_what_its_format_asks_for():
    assert set(CITATION) == REQUIRED | OURS  # the schema allows no keys of one's own
    assert CITATION["cff-version"] == "1.2.0"
    assert CITATION["type"] == "software"
    assert all(isinstance(CITATION[key], str) for key in ("message", "title", "version"))
    assert CITATION["authors"]
    for author in CITATION["authors"]:
        assert author.keys() <= {"name"} or author.keys() >= {"family-names", "given-names"}


def test_the_citation_agrees_with_the_course():
    assert CITATION["title"] == CONFIG["title"]
    assert CITATION["version"] == PROJECT["version"]
    assert CITATION["repository-code"] == CONFIG["repository"]["url"]
    assert " AND ".join(CITATION["license"]) == PROJECT["license"]


def test_licences_are_named_where_they_apply():
    assert "MIT License" in (ROOT / "LICENSE").read_text(encoding="utf-8")
    address = "https://creativecommons.org/licenses/by/4.0/"
    assert address in (ROOT / "LICENSE-text").read_text(encoding="utf-8")
    footer = CONFIG["html"]["extra_footer"]
    assert address in footer
    assert "Code: MIT" in footer


def test_the_front_page_leads_to_the_errata():
    assert "{doc}`errata`" in (ROOT / "book" / "index.md").read_text(encoding="utf-8")
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    (part,) = [part for part in toc["parts"] if part["caption"] == "Reference"]
    assert {"file": "book/errata"} in part["chapters"]


def test_the_errata_have_dated_rows_or_say_that_there_are_none():
    rows = [row for row in ROW.finditer(ERRATA) if not set(row["date"]) <= {"-"}]
    dates = [row["date"] for row in rows if row["date"] != "date"]
    assert (NONE_YET in ERRATA) == (not dates)
    assert dates == sorted(dates, reverse=True)
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\d", date) for date in dates)
