"""MyST prose -> plain Markdown that Jupyter, Colab and VS Code all show.

The chapters use a small set of directives and roles. Any other one is an error here, so that no
raw fence can reach a student.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from autograder.editions.choices import Choice, read_choices

FENCE = re.compile(r"^(?P<fence>:{3,}|`{3,})\{(?P<name>[\w:-]+)\}[ \t]*(?P<title>.*)$")
OPTION = re.compile(r"^:(?P<key>[\w-]+):[ \t]*(?P<value>.*)$")
ROLE = re.compile(r"\{(?P<name>[\w:]+)\}`(?P<text>[^`]+)`")
TARGET = re.compile(r"^\([\w-]+\)=\s*$", re.MULTILINE)
LABEL = re.compile(r"^:label:[ \t]*(?P<label>[\w-]+)[ \t]*$", re.MULTILINE)
NO_FORM = "the {} {{{}}} has no plain form: add one, or write it plainly"
BOXES = ("note", "tip", "important", "warning", "admonition")


class NotPlainError(ValueError):
    """A directive or role that plain Markdown cannot show."""


@dataclass
class Plain:
    """How a chapter's references read.

    equations  label -> number on the page
    citations  key -> "Vaswani et al., 2017"
    """

    equations: Mapping[str, int] = field(default_factory=dict)
    citations: Mapping[str, str] = field(default_factory=dict)

    def markdown(self, text: str) -> str:
        """Rewrite prose. Raises NotPlainError for what has no plain form."""
        lines = TARGET.sub("", text).split("\n")
        return ROLE.sub(self._role, "\n".join(self._blocks(lines))).strip("\n")

    def _blocks(self, lines: list[str]) -> list[str]:
        out: list[str] = []
        i = 0
        while i < len(lines):
            match = FENCE.match(lines[i])
            if match is None:
                out.append(lines[i])
                i += 1
                continue
            end = _closing(lines, i, match["fence"])
            out += self._directive(match["name"], match["title"], lines[i + 1 : end])
            i = end + 1
        return out

    def _directive(self, name: str, title: str, body: list[str]) -> list[str]:
        options, rest = _options(body)
        if name == "math":
            return self._math(options.get("label"), rest)
        if name == "selfcheck":
            return self._question(title, read_choices(rest))
        inner = self._blocks(rest)
        if name == "dropdown":
            return [f"<details><summary>{title}</summary>", "", *inner, "", "</details>"]
        if name in BOXES:
            heading = title or name.capitalize()
            text = "\n".join(inner).strip("\n").split("\n")
            return [f"> **{heading}**", ">", *(f"> {line}".rstrip() for line in text)]
        raise NotPlainError(NO_FORM.format("directive", name))

    def _question(self, title: str, choices: list[Choice]) -> list[str]:
        legend = ["<fieldset><legend>", "", f"**{title}**", "", "</legend>"]
        options = [line for choice in choices for line in self._option(choice)]
        return [*legend, *options, "", "</fieldset>"]

    def _option(self, choice: Choice) -> list[str]:
        """Fold an option: between blank lines, Markdown and formulas count in every program."""
        summary = [f"<details><summary>{choice.letter}", "", choice.text, "", "</summary>", ""]
        first, *more = self._blocks(list(choice.why))
        return ["", *summary, f"**{choice.verdict}** {first}", *more, "", "</details>"]

    def _math(self, label: str | None, body: list[str]) -> list[str]:
        tag = [f"\\tag{{{self.equations[label]}}}"] if label else []
        return ["$$", *body, *tag, "$$"]

    def _role(self, match: re.Match[str]) -> str:
        name, text = match["name"], match["text"]
        roles: dict[str, Callable[[str], str]] = {
            "eq": lambda label: f"({self.equations[label]})",
            "cite:p": lambda keys: f"({self._cited(keys)})",
            "cite:t": self._cited,
            "term": _shown,
            "ref": _shown,
            "doc": _shown,
        }
        if name not in roles:
            raise NotPlainError(NO_FORM.format("role", name))
        return roles[name](text)

    def _cited(self, keys: str) -> str:
        return "; ".join(self.citations[key.strip()] for key in keys.split(","))


def equation_numbers(text: str) -> dict[str, int]:
    """Number the labelled equations of a chapter as the web book does: in order of appearance."""
    return {match["label"]: i for i, match in enumerate(LABEL.finditer(text), start=1)}


def _closing(lines: list[str], start: int, fence: str) -> int:
    for i in range(start + 1, len(lines)):
        if lines[i].strip() == fence:
            return i
    where = f"line {start + 1} of a cell"
    raise NotPlainError(f"the directive in {where} is never closed: {lines[start]}")


def _options(body: list[str]) -> tuple[dict[str, str], list[str]]:
    options: dict[str, str] = {}
    for i, line in enumerate(body):
        match = OPTION.match(line)
        if match is None:
            return options, body[i:]
        options[match["key"]] = match["value"]
    return options, []


def _shown(text: str) -> str:
    """Keep the words of "words <target>"."""
    return re.sub(r"\s*<[^>]*>$", "", text)
