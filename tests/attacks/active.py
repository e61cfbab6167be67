"""Find in an HTML page what acts on its own: scripts, handlers, frames, addresses elsewhere."""

from html.parser import HTMLParser

ACTIVE_TAGS = {"script", "iframe", "object", "embed", "base", "form", "link", "frame", "applet"}
INERT_ADDRESSES = ("data:image/png;base64,", "#")
ADDRESSES = {"src", "href", "srcset", "action", "data", "xlink:href", "poster", "formaction"}


class _Active(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in ACTIVE_TAGS:
            self.found.append(tag)
        for name, value in attrs:
            elsewhere = name in ADDRESSES and not (value or "").startswith(INERT_ADDRESSES)
            if name.startswith("on") or elsewhere:
                self.found.append(f"{tag} {name}")


def active_parts(html: str) -> list[str]:
    """Name the tags and attributes of a page that do more than show something."""
    parser = _Active()
    parser.feed(html)
    parser.close()
    return parser.found
