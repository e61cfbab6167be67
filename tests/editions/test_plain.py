"""MyST prose becomes Markdown that every notebook program shows."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.editions.plain import NotPlainError, Plain, equation_numbers

PLAIN = Plain({"eq-one": 1, "eq-two": 2}, {"vaswani": "Vaswani et al., 2017", "shaw": "Shaw, 2018"})
WORDS = st.text(st.characters(codec="ascii", exclude_characters="`{}:()$\r\n"), max_size=40)


@given(st.lists(WORDS, max_size=6))
def test_prose_without_directives_is_left_alone(lines):
    text = "\n".join(lines)
    assert PLAIN.markdown(text) == text.strip("\n")


def test_a_box_becomes_a_quotation_with_its_title():
    text = ":::{admonition} Before\n:class: tip\n\nRead *this*.\n:::"
    assert PLAIN.markdown(text) == "> **Before**\n>\n> Read *this*."


def test_a_box_without_a_title_is_named_after_its_kind():
    assert PLAIN.markdown(":::{note}\nMind it.\n:::") == "> **Note**\n>\n> Mind it."


def test_a_fold_stays_a_fold():
    shown = PLAIN.markdown(":::{dropdown} Why?\nBecause.\n:::")
    assert shown.startswith("<details><summary>Why?</summary>\n\nBecause.")
    assert shown.endswith("</details>")


def test_directives_nest():
    shown = PLAIN.markdown("::::{admonition} Out\n:::{dropdown} In\ntext\n:::\n::::")
    assert "> <details><summary>In</summary>" in shown


def test_a_labelled_equation_is_tagged_with_the_number_of_the_page():
    shown = PLAIN.markdown("```{math}\n:label: eq-two\nx = 1\n```\nSee {eq}`eq-two`.")
    assert shown == "$$\nx = 1\n\\tag{2}\n$$\nSee (2)."


def test_equations_are_numbered_in_order():
    text = "```{math}\n:label: eq-b\n```\n```{math}\n:label: eq-a\n```"
    assert equation_numbers(text) == {"eq-b": 1, "eq-a": 2}


@pytest.mark.parametrize(
    ("myst", "shown"),
    [
        ("{cite:p}`vaswani`", "(Vaswani et al., 2017)"),
        ("{cite:p}`vaswani,shaw`", "(Vaswani et al., 2017; Shaw, 2018)"),
        ("{cite:t}`shaw` says", "Shaw, 2018 says"),
        ("a {term}`query`", "a query"),
        ("the {term}`queries <query>`", "the queries"),
        ("{ref}`the box <exercise-softmax>`", "the box"),
    ],
)
def test_roles_keep_their_words(myst, shown):
    assert PLAIN.markdown(myst) == shown


def test_targets_vanish():
    assert PLAIN.markdown("(exercise-x)=\n## Title") == "## Title"


def test_an_unknown_directive_is_refused():
    with pytest.raises(NotPlainError, match=r"directive \{figure\} has no plain form"):
        PLAIN.markdown("```{figure} a.png\n```")


def test_an_unknown_role_is_refused():
    with pytest.raises(NotPlainError, match=r"role \{kbd\} has no plain form"):
        PLAIN.markdown("press {kbd}`x`")


def test_an_open_directive_is_refused():
    with pytest.raises(NotPlainError, match="line 1 of a cell is never closed"):
        PLAIN.markdown(":::{note}\ntext")


def test_an_unknown_citation_is_refused():
    with pytest.raises(KeyError, match="nobody"):
        PLAIN.markdown("{cite:p}`nobody`")
