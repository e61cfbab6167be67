"""The looks of a feedback page: two themes, any width, and paper."""

STYLE = """\
:root { color-scheme: light dark; --ink: #1d2129; --soft: #565e6c; --paper: #fff; --card: #f5f6f8;
  --line: #d8dce3; --good: #1a6b36; --bad: #a82424; --wait: #7a5200; --hint: #fff6dc;
  --hint-line: #d9a514; --accent: #2856a8; }
@media (prefers-color-scheme: dark) { :root { --ink: #e5e8ee; --soft: #a6aebb; --paper: #16191e;
  --card: #20242b; --line: #3a404b; --good: #7fd49a; --bad: #ff9a94; --wait: #f0c163;
  --hint: #2e2814; --hint-line: #b98d1c; --accent: #94b8ff; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 54rem; padding: 1.25rem 1rem 3rem; background: var(--paper);
  color: var(--ink); font: 1rem/1.55 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif;
  overflow-wrap: anywhere; }
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0; }
h2 { font: 600 1.1rem/1.35 ui-monospace, Menlo, Consolas, monospace; margin: 0; }
h3 { font-size: .8rem; letter-spacing: .05em; text-transform: uppercase; color: var(--soft);
  margin: 1.1rem 0 .35rem; }
p { margin: .4rem 0; }
pre, code { font: .85rem/1.5 ui-monospace, Menlo, Consolas, monospace; }
pre { background: var(--card); border: 1px solid var(--line); border-radius: .4rem; margin: 0;
  padding: .6rem .75rem; overflow-x: auto; white-space: pre; overflow-wrap: normal; }
pre + pre, pre + img, img + pre { margin-top: .4rem; }
pre.error { border-left: .25rem solid var(--bad); }
img { max-width: 100%; height: auto; background: #fff; border-radius: .3rem; display: block; }
a { color: var(--accent); }
.who { color: var(--soft); margin: 0 0 .2rem; }
.total { font-size: 1.15rem; margin: .5rem 0 1rem; }
.total b { font-size: 1.9rem; }
.small { color: var(--soft); font-size: .9rem; }
.list { display: grid; gap: .1rem; padding: 0; margin: 0 0 1.5rem; list-style: none; }
.list a { display: flex; gap: .25rem 1rem; justify-content: space-between; flex-wrap: wrap;
  padding: .35rem .1rem; border-bottom: 1px solid var(--line); text-decoration: none; }
.list a:hover span:first-child { text-decoration: underline; }
section { border: 1px solid var(--line); border-radius: .6rem; padding: 1rem; margin: 0 0 1.25rem; }
.head { display: flex; flex-wrap: wrap; gap: .2rem 1rem; justify-content: space-between;
  align-items: baseline; }
.verdict { margin: .1rem 0 .2rem; font-weight: 600; }
.good { color: var(--good); } .bad { color: var(--bad); } .wait { color: var(--wait); }
.hint { background: var(--hint); border-left: .25rem solid var(--hint-line); padding: .6rem .8rem;
  border-radius: .3rem; margin: .7rem 0; }
.cases { list-style: none; padding: 0; margin: 0; }
.cases li { padding: .45rem 0 .45rem 3.8rem; border-top: 1px solid var(--line); }
.cases li:first-child { border-top: 0; }
.mark { float: left; margin-left: -3.8rem; font-weight: 600; white-space: nowrap; }
section > h3:first-child { margin-top: 0; }
.message { white-space: pre-wrap; }
footer { border-top: 1px solid var(--line); padding-top: .8rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .15rem 1rem; margin: 0; }
dt { color: var(--soft); } dd { margin: 0; }
@media (max-width: 30rem) { section { padding: .8rem; } dl { grid-template-columns: 1fr; }
  dd { margin-bottom: .4rem; } }
@media print { body { max-width: none; padding: 0; font-size: 10pt; } .list a { color: inherit; }
  pre { white-space: pre-wrap; overflow-wrap: anywhere; } .head, .hint, li { break-inside: avoid; }
  section { border-width: 1px 0 0; border-radius: 0; padding: .6rem 0; } }
"""
