"""What the tests in a browser share: a server for the site, and questions to an open page."""

from http.server import SimpleHTTPRequestHandler
from typing import Any

from booksite import toc

from autograder.downloads.chromium import SETTLED

PAGES = [f"{page}.html" for page in [*toc(), "genindex", "search"]]
FAINT = """() => {
  const numbers = text => text.match(/[\\d.]+/g).map(Number);
  const light = colour => colour.slice(0, 3).map(c => c / 255)
    .map(c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
    .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = element => {
    for (let e = element; e; e = e.parentElement) {
      const colour = numbers(getComputedStyle(e).backgroundColor);
      if (colour.length < 4 || colour[3] > 0.99) return colour;
    }
    return [255, 255, 255];
  };
  const words = e => [...e.childNodes].some(n => n.nodeType === 3 && n.data.trim());
  return [...document.querySelectorAll('body *:not(script, style)')].filter(words)
    .filter(e => e.checkVisibility({visibilityProperty: true, opacityProperty: true}))
    .filter(e => !e.closest('mjx-container, .headerlink')).map(e => {
      const style = getComputedStyle(e), size = parseFloat(style.fontSize);
      const [a, b] = [light(numbers(style.color)), light(behind(e))].sort((x, y) => y - x);
      const big = size >= 24 || (size >= 18.66 && style.fontWeight >= 700);
      return [(a + 0.05) / (b + 0.05) / (big ? 3 : 4.5), e.className, e.textContent.slice(0, 40)];
    }).filter(([ratio]) => ratio < 1);
}"""


class Quiet(SimpleHTTPRequestHandler):
    """Serves files and writes no log."""

    def log_message(self, *args: Any) -> None:
        pass


def opened(context: Any, address: str) -> Any:
    """A page of the book with its formulas, pictures and icons drawn."""
    page = context.new_page()
    page.goto(address, wait_until="load")
    page.evaluate(SETTLED)
    return page
