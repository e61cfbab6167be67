"""An open book -> its pages as XHTML, with formulas in MathML."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Page

# MathJax keeps each formula as MathML for screen readers; e-readers show that themselves.
TAKE = """() => {
  for (const formula of document.querySelectorAll('mjx-container'))
    formula.replaceWith(formula.querySelector('math'));
  const written = new XMLSerializer();
  return [...document.querySelectorAll('section.page[id]')].map(part =>
    [part.id, [...part.childNodes].map(node => written.serializeToString(node)).join('')]);
}"""
MATHJAX_DATA = re.compile(r' data-mjx-[a-z]+="[^"]*"')
OPEN = re.compile(r'(<details\b[^>]*?) open=""')
LINK = re.compile(r'(?<= href=")#([^"]+?)(--[^"]*)?(?=")')
STYLED = re.compile(r'<(m[ino]) mathvariant="(double-struck|script|fraktur|bold)">(\w)</\1>')
REPEATED = ' xmlns="http://www.w3.org/1999/xhtml"'


def taken(page: Page) -> dict[str, str]:
    """Take the pages out of a book that is open in Chromium, by their names; it changes the book.

    Links lead from file to file, and hints are folded again.
    """
    return {name: _for_reader(text) for name, text in page.evaluate(TAKE)}


def _for_reader(text: str) -> str:
    text = MATHJAX_DATA.sub("", text.replace(REPEATED, ""))
    text = STYLED.sub(_as_character, text)
    return LINK.sub(_other_file, OPEN.sub(r"\1", text))


def _other_file(link: re.Match[str]) -> str:
    page, name = link[1], link[2] or ""
    return f"{page}.xhtml#{page}{name}" if name else f"{page}.xhtml"


def _as_character(letter: re.Match[str]) -> str:
    """Write a letter of another alphabet, as in E for the mean, as the character that it is.

    E-readers with Chromium or WebKit inside know no `mathvariant` but "normal".
    """
    tag, variant, plain = letter.groups()
    kind = unicodedata.name(plain).removeprefix("LATIN ").replace(" LETTER", "")
    style = variant.upper()
    for name in (f"{style} {kind}", f"MATHEMATICAL {style} {kind}"):
        try:
            return f"<{tag}>{unicodedata.lookup(name)}</{tag}>"
        except KeyError:
            continue
    return letter[0]
