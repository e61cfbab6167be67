"""A student's page: complete, inert whatever is on it, and of bounded size."""

import json
import re
from html.parser import HTMLParser
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from judged import (
    EXERCISES,
    display,
    encoded,
    executed,
    png,
    record,
    report,
    stream,
    unreadable,
)

from autograder.report.allowance import Allowance, cut
from autograder.report.feedback import LARGEST_BYTES, ByHand, feedback_page
from autograder.report.outputs import joined, picture, plain, shown
from autograder.report.png import is_png
from autograder.verdict import Verdict

FIRST, SECOND = EXERCISES[:2]
WRONG = report(SECOND, Verdict.WRONG, 1.0, diagnosis="a hint", printed="I was here")
FAULT = report(SECOND, Verdict.GRADER_ERROR, diagnosis="it broke")
HOSTILE = "</pre></style></title><script>alert(1)</script><img src=x onerror='alert(2)'>\"'&"


class Reader(HTMLParser):
    """Reads a page as a browser does: its elements with attributes, and its text."""

    VOID = ("meta", "img", "br")

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.texts: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag, f"<{tag}> is closed where it is not open"

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.texts).split())


def read(page: str) -> Reader:
    """Read a page, and look that nothing on it can act or reach out."""
    found = Reader(page)
    assert found.open == []
    allowed = {
        "html", "head", "meta", "title", "style", "body", "p", "h1", "h2", "h3", "ul", "li", "a",
        "span", "b", "div", "section", "pre", "img", "dl", "dt", "dd", "footer",
    }  # fmt: skip
    assert {tag for tag, _ in found.elements} <= allowed
    for tag, attributes in found.elements:
        assert not [name for name in attributes if name.startswith("on")]
        if tag == "a":
            assert str(attributes["href"]).startswith("#")
        if tag == "img":
            assert str(attributes["src"]).startswith("data:image/png;base64,")
    assert "://" not in page.replace("&", " ") or "://" in found.text
    assert len(page.encode()) <= LARGEST_BYTES
    return found


# What is on it


def test_a_page_says_all_that_is_known(student: Any) -> None:
    kept = record(**{SECOND: WRONG})
    text = read(feedback_page(kept, executed(student, kept, stream("my output")))).text
    wanted = ["ann", kept["chapter"], "one note", "0.2 s", "namespaces", kept["submission"]]
    wanted += [kept["version"], kept["seed_id"], "my output", "a hint", "I was here"]
    wanted += [f"{kept['score']:g} of {kept['max_score']:g} points", *EXERCISES]
    wanted += [case["behaviour"] for one in kept["exercises"] for case in one["cases"]]
    wanted += ["0.5 is 0.25 away", "x of shape (2, 3)", f"def {FIRST}"]
    assert [words for words in wanted if " ".join(words.split()) not in text] == []


def test_the_hint_stands_before_the_behaviours() -> None:
    page = feedback_page(record(**{SECOND: WRONG}), None)
    section = page[page.index(f'id="{SECOND}"') :]
    assert section.count('class="hint') == 1
    assert section.index("a hint") < section.index("What was checked")


@pytest.mark.parametrize("verdict", list(Verdict))
def test_every_verdict_is_said_in_words(verdict: Verdict) -> None:
    made = report(SECOND, verdict)
    text = read(feedback_page(record(**{SECOND: made}), None)).text
    words = {"pass": "All behaviours hold", "grader error": "costs you no points"}
    assert words.get(verdict, "") in text
    if verdict == Verdict.GRADER_ERROR:
        assert f"open, {made.max_score:g} points" in text


def test_an_unreadable_file_has_its_reason_and_what_to_do() -> None:
    text = read(feedback_page(unreadable(why="not JSON: line 3"), None)).text
    assert "not JSON: line 3" in text
    assert "hand in that file" in text
    assert FIRST not in text, "nothing was judged"


def test_what_a_person_gave_and_a_penalty_count() -> None:
    changed = ByHand({SECOND: 2.5}, {SECOND: "see me"}, 3.0)
    kept = record(**{SECOND: WRONG})
    text = read(feedback_page(kept, None, changed)).text
    won = kept["score"] - WRONG.score + 2.5 - 3
    assert f"{won:g} of {kept['max_score']:g} points" in text
    assert "the checks gave 1" in text
    assert "see me" in text


def test_points_that_an_earlier_grading_gave_are_not_open() -> None:
    kept = record(**{SECOND: FAULT})
    assert "so far" in read(feedback_page(kept, None)).text
    text = read(feedback_page(kept, None, ByHand({SECOND: 3.0}))).text
    assert "so far" not in text
    assert f"3 of {FAULT.max_score:g}" in text


def test_the_same_record_gives_the_same_bytes(student: Any) -> None:
    kept = record()
    again = json.loads(json.dumps(kept))
    notebook = executed(student, kept, stream("x"))
    assert feedback_page(kept, notebook) == feedback_page(again, json.loads(json.dumps(notebook)))


# Nothing on it acts


texts = (
    st.text(max_size=60) | st.just(HOSTILE) | st.text("<>&\"'/ !-x=\x1b[\x00\ud800", max_size=30)
)
kinds = st.sampled_from(["text/plain", "text/html", "image/png", "image/svg+xml", "<b>"])
outputs = st.one_of(
    st.builds(stream, texts, st.sampled_from(["stdout", "stderr"])),
    st.fixed_dictionaries(
        {
            "output_type": st.sampled_from(["display_data", "execute_result", "no such"]),
            "data": st.dictionaries(kinds, texts | st.lists(texts, max_size=2), max_size=3),
        }
    ),
    st.fixed_dictionaries(
        {
            "output_type": st.just("error"),
            "ename": texts,
            "evalue": texts,
            "traceback": st.lists(texts, max_size=3),
        }
    ),
)


@given(texts, st.lists(outputs, max_size=4), texts)
def test_no_text_becomes_markup(student: Any, words: str, shown_by: list[Any], other: str) -> None:
    made = report(SECOND, Verdict.WRONG, 1.0, diagnosis=words, printed=other)
    kept = record(words, **{SECOND: made}) | {"notes": [other], "sandbox": words, "version": other}
    kept["exercises"][0]["cases"][0] |= {"behaviour": words, "message": other, "inputs": words}
    by_hand = ByHand({}, {FIRST: words})
    found = read(feedback_page(kept, executed(student, kept, *shown_by), by_hand))
    clean = feedback_page(record("ann", **{SECOND: WRONG}), None)
    assert {tag for tag, _ in found.elements} <= {tag for tag, _ in Reader(clean).elements} | {
        "img"
    }
    assert feedback_page(unreadable(why=words), None).count("<script") == 0


def test_rich_outputs_other_than_pictures_are_named(student: Any) -> None:
    kept = record()
    bundle = display(text_html=HOSTILE, text_plain="<Figure>", application_javascript="alert(1)")
    text = read(feedback_page(kept, executed(student, kept, bundle))).text
    assert "<Figure>" in text
    assert "(application/javascript, text/html: not shown here)" in text


# Pictures


def test_a_picture_is_shown(student: Any) -> None:
    kept = record()
    bundle = display(image_png=encoded(png()), text_plain="<Figure>")
    found = read(feedback_page(kept, executed(student, kept, bundle)))
    assert [tag for tag, _ in found.elements].count("img") == 1
    assert "<Figure>" not in found.text


def test_a_png_is_one() -> None:
    assert is_png(png())


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"<svg/>",
        png()[:-1],
        png() + b"<script>",
        png()[:8],
        png().replace(b"IDAT", b"IDAX"),
        png()[8:],
        png(side=100_000),
        png(side=0),
        png() + png()[8:],
    ],
)
def test_what_is_no_png_is_refused(data: bytes) -> None:
    assert not is_png(data)
    assert picture(encoded(data)) is None


@given(st.binary(max_size=200), st.integers(0, 60))
def test_any_bytes_are_a_png_or_not(data: bytes, at: int) -> None:
    whole = png()
    for candidate in (data, whole[:8] + data, whole[:at] + data, whole[:33] + data):
        assert isinstance(is_png(candidate), bool)


@pytest.mark.parametrize("value", [None, 3, ["a", 1], "a b", "*" * 8, encoded(png()) + "*"])
def test_a_picture_that_is_no_base64_is_refused(value: Any) -> None:
    assert picture(value) is None
    assert list(shown({"output_type": "display_data", "data": {"image/png": value}})) == [
        ("text/plain", "(image/png: not shown here)")
    ]


# Sizes


@given(st.text(max_size=400), st.integers(0, 300))
def test_a_cut_text_keeps_its_ends(text: str, longest: int) -> None:
    short = cut(text, longest)
    assert len(short) <= max(longest, 0) or short == text
    assert text.startswith(short[: max(0, longest // 2 - 25)])


@given(st.lists(st.tuples(st.text(), st.integers(0, 100)), max_size=20), st.integers(0, 500))
def test_an_allowance_is_never_overdrawn(parts: list[tuple[str, int]], size: int) -> None:
    room = Allowance(size)
    written = sum(len(room.text(text, longest).encode()) for text, longest in parts)
    assert written + room.left == size
    assert room.left >= 0


def test_a_page_stays_small_whatever_is_on_it(student: Any) -> None:
    huge = "<\"&'>" * 60_000
    big = display(image_png=encoded(png(400, 400)))
    notebook = executed(student, record(), *[stream(huge), big] * 100)
    case = {"behaviour": huge, "passed": False, "message": huge, "inputs": huge}
    kept = record(huge)
    for one in kept["exercises"]:
        one |= {"diagnosis": huge, "printed": huge, "cases": [case] * 500}
    kept |= {"notes": [huge] * 500}
    read(feedback_page(kept, notebook))
    small = record()
    noisy = executed(student, small, *[stream("ü" * 100_000)] * 100)
    text = read(feedback_page(small, noisy)).text
    assert "more characters" in text
    assert small["submission"] in text, "what matters is still there"


def test_a_record_of_many_exercises_stays_small() -> None:
    kept = record()
    kept["exercises"] = [{**kept["exercises"][0], "id": f"e{i}" * 50} for i in range(2000)]
    found = read(feedback_page(kept, None, ByHand({f"e{i}" * 50: 1.0 for i in range(2000)})))
    assert kept["submission"] in found.text


def test_colours_of_a_terminal_and_control_characters_go() -> None:
    assert plain("\x1b[0;31mred\x1b[0m\x00 \x1b]8;;http://x\x07link") == "red\ufffd link"
    assert plain(joined(["a\r\n", "b\r"])) == "a\nb\n"
    assert joined(None) == ""
    assert plain("a\ud800b") == "a\ufffdb"


def test_a_page_is_readable_in_both_themes() -> None:
    page = feedback_page(record(), None)
    assert "prefers-color-scheme: dark" in page
    assert "@media print" in page
    assert re.search(r"default-src 'none'", page)
