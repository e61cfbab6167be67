"""The theme's barriers are mended on every page."""

import barriers
import pytest

MENDED = [
    (
        '<button class="btn search-button-field x" title="Search" aria-label="Search" data-a="b">',
        '<button class="btn search-button-field x" data-a="b">',
    ),
    (
        '<div id="pst-primary-sidebar" class="a">',
        '<div id="pst-primary-sidebar" role="complementary" aria-label="Book" class="a">',
    ),
    (
        '<dialog id="pst-search-dialog">',
        '<dialog id="pst-search-dialog" aria-label="Search">',
    ),
    (
        '<dialog id="pst-primary-sidebar-modal">',
        '<dialog id="pst-primary-sidebar-modal" aria-label="Book">',
    ),
    (
        '<dialog id="pst-secondary-sidebar-modal">',
        '<dialog id="pst-secondary-sidebar-modal" aria-label="Page">',
    ),
    ('<div id="id1" role="doc-biblioentry">', '<div id="id1" role="listitem">'),
    ('<th class="head"><p></p></th>', "<td></td>"),
    ('<th class="head text-right"></th>', "<td></td>"),
    ('<i class="fa-solid fa-list"></i>', '<i class="fa-solid fa-list" aria-hidden="true"></i>'),
    ('<i class="fas fa-expand">', '<i class="fas fa-expand" aria-hidden="true">'),
    ('<span class="fab x" title="t">', '<span class="fab x" aria-hidden="true" title="t">'),
]


@pytest.mark.parametrize(("before", "after"), MENDED)
def test_a_barrier_is_mended_once(before, after):
    assert barriers.mend(before) == after
    assert barriers.mend(after) == after


@pytest.mark.parametrize(
    "text", ['<span class="fact">', "<i>", "<th><p>a</p></th>", '<dialog id="other">', "<button>"]
)
def test_the_rest_of_a_page_stays(text):
    assert barriers.mend(text) == text


def test_every_mend_has_a_test():
    assert all(any(m.pattern.search(before) for before, _ in MENDED) for m in barriers.MENDS)


@pytest.mark.slow
@pytest.mark.parametrize(
    "place",
    [
        "#pst-primary-sidebar[role=complementary]",
        "button.search-button-field:not([aria-label])",
        "dialog#pst-search-dialog[aria-label]",
        "dialog#pst-primary-sidebar-modal[aria-label]",
        "dialog#pst-secondary-sidebar-modal[aria-label]",
        ".citation-list > [role=listitem]",
        "i.fa-solid[aria-hidden=true]",
    ],
)
def test_the_site_still_has_what_is_mended(place, pages):
    assert [name for name, soup in pages.items() if soup.select(place)]


@pytest.mark.slow
def test_no_page_has_a_barrier_left(pages):
    assert {name for name, soup in pages.items() if barriers.mend(str(soup)) != str(soup)} == set()
