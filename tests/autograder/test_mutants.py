"""Small changes of the reference answers: each must cost points, or be explained."""

import ast
from collections.abc import Iterator
from functools import cache
from itertools import chain, islice
from math import ceil

import pytest
from mutation import EQUIVALENT, Outcome, mutants, outcome, summary, survivors

from autograder.catalogue import exercise as find
from autograder.catalogue import exercises

every_name = pytest.mark.parametrize("name", exercises())
MOST = 60  # mutants of one answer that are judged here; `python tests/mutation.py` judges all


def chosen(name: str) -> slice:
    """Mutants from all over the answer."""
    return slice(None, None, -(-len(mutants(find(name).solution)) // MOST))


@cache
def outcomes(name: str) -> list[Outcome]:
    """Judge the chosen mutants, once for all tests here."""
    return [outcome(find(name), mutant) for mutant in mutants(find(name).solution)[chosen(name)]]


def others(name: str) -> Iterator[Outcome]:
    """Judge the rest, as far as anybody asks."""
    made = mutants(find(name).solution)
    del made[chosen(name)]
    return (outcome(find(name), mutant) for mutant in made)


@every_name
def test_no_changed_answer_gets_full_marks_unless_it_computes_the_same(name):
    assert survivors(find(name), outcomes(name)) == []


@every_name
def test_no_changed_answer_breaks_the_judge(name):
    assert [one.mutant.name for one in outcomes(name) if one.broken] == []


@every_name
def test_some_of_the_changed_answers_get_a_cause(name):
    """Few do: a cause must explain more than one wrong reply, as a false one is worse than none.

    The changes of a long answer are mostly ones that nobody would make, so two are enough there.
    """
    caught = [one for one in outcomes(name) if not one.passed]
    wanted = min(2, ceil(len(caught) / 12))
    named = (one for one in chain(caught, others(name)) if one.named)
    assert len([*islice(named, wanted)]) == wanted, summary(find(name), outcomes(name))


@every_name
def test_the_table_of_equivalents_holds_nothing_stale(name):
    told = set(EQUIVALENT.get(name, {}))
    assert told <= {mutant.name for mutant in mutants(find(name).solution)}
    assert told.isdisjoint(one.mutant.name for one in outcomes(name) if not one.passed)
    assert all(EQUIVALENT.get(name, {}).values())


@every_name
def test_every_statement_of_the_answer_is_deleted_once(name):
    deleted = {mutant.line for mutant in mutants(find(name).solution) if not mutant.changed}
    assert deleted == {mutant.line for mutant in mutants(find(name).solution)}


def shifted(x, dim):
    top = x.amax(dim, keepdim=True) if x.ndim > 0 else x
    return (x - top).exp()


def test_the_changes_are_of_every_kind():
    made = {mutant.name for mutant in mutants(shifted)}
    for expected in (
        "return (x + top).exp()",
        "return (x - top).exp2()",
        "return x.exp()",
        "return x - top",
        "return (top - x).exp()",
        "return (-x - top).exp()",
        "return (dim - top).exp()",
        "top = x.amin(dim, keepdim=True) if x.ndim > 0 else x",
        "top = x.amax(dim, keepdim=False) if x.ndim > 0 else x",
        "top = x.amax(dim) if x.ndim > 0 else x",
        "top = x.amax(keepdim=True) if x.ndim > 0 else x",
        "top = x.amax(dim, keepdim=True) if x.ndim < 0 else x",
        "top = x.amax(dim, keepdim=True) if x.ndim > 1 else x",
        "top = x.amax(dim, keepdim=True) if x.ndim > 0 else dim",
        "(deleted) return (x - top).exp()",
    ):
        assert expected in made


def test_every_mutant_differs_from_the_answer_and_from_the_others():
    texts = [mutant.name for mutant in mutants(shifted)]
    assert len(set(texts)) == len(texts)
    assert not {ast.unparse(ast.parse(text)) for text in texts if "deleted" not in text} & {
        "return (x - top).exp()",
        "top = x.amax(dim, keepdim=True) if x.ndim > 0 else x",
    }


def test_an_unexplained_survivor_is_listed():
    exercise = find("softmax")
    alive = [one for one in outcomes("softmax") if one.passed]
    renamed = type(exercise)(**{**vars(exercise), "solution": find("attention_cost").solution})
    assert survivors(exercise, alive) == []
    assert survivors(renamed, alive) == [one.mutant.name for one in alive]
