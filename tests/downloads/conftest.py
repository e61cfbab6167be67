"""A small site that looks like a built book, and the course that it is the book of."""

import shutil
from importlib.metadata import files
from pathlib import Path

import pytest

from autograder.course import Course

HEAD = """<!DOCTYPE html><html><head><title>{title}</title>
<link rel="stylesheet" href="../_static/pygments.css"/>
<script>window.MathJax = {{"options": {{"processHtmlClass": "math"}}}}</script>
<script defer src="../_static/mathjax/tex-svg.js"></script></head>
<body><nav>Site navigation</nav><article class="bd-article">{body}</article></body></html>"""

FRONT = """<section id="front"><h1>A small book<a class="headerlink" href="#front">#</a></h1>
<div class="downloads docutils"><p>Run make downloads.</p></div>
<p>Read <a href="first.html#part">the part</a>, <a href="first.html">all of it</a>,
<a href="../genindex.html">the index</a> or <a href="https://example.org/a#b">elsewhere</a>.</p>
</section>"""

FIRST = r"""<section id="first"><h1>1 A first chapter that has rather a long title, longer than
one line of paper is wide, so that it has to be broken somewhere</h1>
<div class="launch"><a href="../_downloads/first.ipynb">Student notebook</a></div>
<section id="part"><h2>A part &amp; more<a class="headerlink" href="#part">#</a></h2>
<p>The mean <span class="math">\(\mathbb{E}[x] &lt; \frac{1}{2}\)</span> is small.</p>
<div class="math" id="equation-one"><span class="eqno">(1)</span>\[y = \sqrt{x}\]</div>
<p>See <a href="#equation-one">(1)</a>.</p>
<details class="sd-dropdown"><summary>Hint 1<span class="sd-summary-state-marker">^</span></summary>
<p>Folded words.</p></details>
<figure class="moving" id="move"><img src="../_images/still.svg" alt="A red box"/>
<div class="moving-chart" role="group" aria-label="A box"></div>
<figcaption>It moves.</figcaption><script type="application/json">{"mark": "rect"}</script></figure>
<svg viewBox="0 0 9 9" width="90"><clipPath id="cut"><rect width="5" height="5"></rect></clipPath>
<circle r="9" clip-path="url(#cut)"></circle></svg>
<pre><span></span>price = "$5"<br>x = 1 &lt; 2</pre><button class="copybtn">Copy</button>
</section></section>"""

STILL = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="99" height="99"><path d="M0 0h99v99z"/></svg>'
)


@pytest.fixture(scope="session")
def course(tmp_path_factory: pytest.TempPathFactory) -> Course:
    """A course of two pages whose book is built."""
    root = tmp_path_factory.mktemp("a small course")
    (root / "_config.yml").write_text(
        'title: A small book\nauthor: "A & B"  # two\nrepository:\n'
        "  url: https://example.org/book\n  branch: main\n"
    )
    parts = "parts:\n  - caption: P\n    chapters:\n      - file: book/first\n"
    (root / "_toc.yml").write_text(f"format: jb-book\nroot: book/index\n{parts}")
    (root / "book").mkdir()
    write_site(root / "_build" / "html")
    return Course(root)


def write_site(html: Path) -> None:
    for folder in ("book", "_images", "_static/mathjax"):
        (html / folder).mkdir(parents=True)
    for name, body in (("index", FRONT), ("first", FIRST)):
        text = HEAD.format(title=name, body=body)
        (html / "book" / f"{name}.html").write_text(text, encoding="utf-8")
    (html / "_images" / "still.svg").write_text(STILL)
    (html / "_static" / "pygments.css").write_text("pre { color: black; }\n")
    found = (file for file in files("sphinx-mathjax-offline") or [] if file.name == "tex-svg.js")
    shutil.copy(str(next(found).locate()), html / "_static" / "mathjax")
