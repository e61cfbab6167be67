"""The questions of the built pages: groups with a label, and a fold for each option."""

import pytest
from booksite import ROOT, chapters, read

from autograder.editions.choices import LETTERS

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("chapter", chapters())
def test_every_option_opens_in_a_labelled_group(chapter, pages):
    groups = pages[f"book/{chapter}.html"].select("#check-yourself > fieldset.selfcheck")
    assert len(groups) == read(ROOT / "book" / f"{chapter}.md").count(":::{selfcheck}")
    for group in groups:
        label, *folds = group.find_all(recursive=False)
        assert label.name == "legend"
        assert label.get_text(strip=True)
        assert {fold.name for fold in folds} == {"details"}
        assert [letter(fold) for fold in folds] == list(LETTERS[: len(folds)])
        said = [verdict(fold) for fold in folds]
        assert sorted(set(said)) == ["No.", "Right."]
        assert said.count("Right.") == 1


def letter(fold):
    return fold.select_one("summary > strong").get_text()


def verdict(fold):
    """The first words under an option, and the class that gives them colour and sign."""
    first = fold.select_one("summary + p > strong")
    assert first["class"] == ["right" if first.get_text() == "Right." else "wrong"]
    return first.get_text()
