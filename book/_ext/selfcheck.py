"""Questions at the end of a chapter: open an option, and it says whether it is right and why.

A browser's own elements do it, without a script: a group with the question as its label, and in it
a fold for each option.
"""

from typing import Any

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from autograder.editions.choices import Choice, read_choices


class Group(nodes.General, nodes.Element):
    """A question with its options."""


class Question(nodes.General, nodes.TextElement):
    """The label of the group."""


class Option(nodes.General, nodes.Element):
    """An option with its explanation."""


class Offer(nodes.General, nodes.TextElement):
    """The option itself, which is always seen."""


TAGS = {Group: "fieldset", Question: "legend", Option: "details", Offer: "summary"}


class SelfCheck(SphinxDirective):
    """The directive: its argument is the question, its content the options."""

    required_arguments = 1
    final_argument_whitespace = True
    has_content = True

    def run(self) -> list[nodes.Node]:
        """Make the group."""
        try:
            choices = read_choices(list(self.content))
        except ValueError as error:
            raise self.error(str(error)) from None
        question = Question("", "", *self._inline(self.arguments[0]))
        return [Group("", question, *map(self._option, choices), classes=["selfcheck"])]

    def _option(self, choice: Choice) -> nodes.Node:
        letter = nodes.strong("", choice.letter)
        offer = Offer("", "", letter, nodes.Text(" "), *self._inline(choice.text))
        option = Option("", offer)
        why = StringList(list(choice.why), source=self.get_source_info()[0])
        self.state.nested_parse(why, self.content_offset, option)
        verdict = nodes.strong("", choice.verdict, classes=["right" if choice.right else "wrong"])
        option[1].insert(0, [verdict, nodes.Text(" ")])  # into the first paragraph
        return option

    def _inline(self, text: str) -> list[nodes.Node]:
        found, messages = self.state.inline_text(text, self.lineno)
        return [*found, *messages]


def open_tag(translator: Any, node: nodes.Element) -> None:
    """Write the tag of a node."""
    translator.body.append(translator.starttag(node, TAGS[type(node)]))


def close_tag(translator: Any, node: nodes.Element) -> None:
    """Write its end."""
    translator.body.append(f"</{TAGS[type(node)]}>\n")


def setup(app: Sphinx) -> dict[str, bool]:
    """Sphinx calls this once."""
    for node in TAGS:
        app.add_node(node, html=(open_tag, close_tag))
    app.add_directive("selfcheck", SelfCheck)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
