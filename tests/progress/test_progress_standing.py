"""Sums and what is next, and how they look."""

from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.catalogue import exercises, of_chapter
from autograder.progress.standing import standing
from autograder.report.progress import progress_text
from autograder.report.standing import standing_html, standing_text
from autograder.report.text import WIDTH

ALL = [*exercises().values()]
CHAPTER = of_chapter("02_scaled_dot_product")
BEST = st.dictionaries(
    st.sampled_from([*exercises(), "of another course"]), st.floats(0, 99, allow_nan=False)
)
DONE = {one.id: float(one.points) for one in ALL}


@given(BEST)
def test_the_sums_are_those_of_the_chapters(best):
    course = standing(ALL, best)
    chapters = course.chapters().values()
    assert sum(one.points for one in chapters) == pytest.approx(course.points)
    assert course.points <= course.max_points
    assert sum(one.max_points for one in chapters) == course.max_points
    assert sum(one.minutes_left for one in chapters) == course.minutes_left


@given(BEST)
def test_next_is_the_first_without_all_its_points(best):
    course = standing(ALL, best)
    before = [*exercises()][: [*exercises()].index(course.next.id)] if course.next else ALL
    undone = [one.id for one in ALL if best.get(one.id, 0) < one.points]
    assert undone[:1] == ([course.next.id] if course.next else [])
    assert not {*before} & {*undone}


@given(BEST, st.sampled_from([*exercises()]))
def test_one_more_exercise_done_leaves_less_to_do(best, name):
    before, after = standing(ALL, best), standing(ALL, {**best, name: 99.0})
    assert after.points >= before.points
    saved = before.minutes_left - after.minutes_left
    assert saved == (0 if best.get(name, 0) >= DONE[name] else exercises()[name].minutes)


def test_all_done():
    course = standing(ALL, DONE)
    assert (course.points, course.minutes_left, course.next) == (course.max_points, 0, None)
    assert "All exercises are done." in progress_text(course)
    assert "All exercises are done." in standing_text(standing(CHAPTER, DONE))


@given(BEST)
def test_the_text_fits_a_terminal_and_names_everything(best):
    text = progress_text(standing(ALL, best))
    assert max(len(line) for line in text.splitlines()) <= WIDTH
    assert all(f"  {name} " in text for name in exercises())


def test_under_a_check_stands_the_chapter():
    part = standing(CHAPTER, {"product_moments": 3.0, "softmax": 2.5})
    lines = standing_text(part).splitlines()
    assert lines[0].split() == ["02_scaled_dot_product", "so", "far", "5.5", "of", "20", "points"]
    assert lines[2].split() == ["softmax", "2.5", "of", "4"]
    assert lines[-1].strip() == "Next: softmax, about 10 minutes."
    assert len(lines) == 2 + len(CHAPTER)
    assert max(map(len, lines)) <= WIDTH


class Tags(HTMLParser):
    """Counts what opens and closes."""

    def __init__(self):
        super().__init__()
        self.open, self.rows = [], 0

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        self.rows += tag == "tr"

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_the_table_is_folded_and_whole():
    html = standing_html(standing(CHAPTER, {"softmax": 4.0}))
    tags = Tags()
    tags.feed(html)
    assert (tags.open, tags.rows) == ([], len(CHAPTER))
    assert html.startswith("<details><summary>02_scaled_dot_product: 4 of 20 points so far. Next:")
    assert html.count("&#10003;") == 1
