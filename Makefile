# Every path is relative, so the folder may have any name, with spaces too.
#   make         environment, notebooks, web book, the sample class graded
#   make test    environment and every test
#   make downloads  the web book as one PDF and one EPUB; needs Chromium
#   make serve   the web book on http://127.0.0.1:8000

PYTHON ?= python3
PORT ?= 8000
PY := .venv/bin/python
COURSE := .venv/bin/course
TEXT := $(wildcard book/*.md book/*.bib book/_ext/*.py book/_static/* book/figures/*.py book/data/* _config.yml _toc.yml)
CODE := $(wildcard solutions/*.py autograder/*.py autograder/*/*.py autograder/*/*/*.py)
SAMPLE := $(wildcard tests/sample_class.py tests/submissions/*/*)

.PHONY: all env notebooks book downloads sample test serve clean

all: notebooks book sample
	@echo "Notebooks     notebooks/           open one in Jupyter: $(PY) -m jupyter lab notebooks"
	@echo "Web book      _build/html/         open _build/html/index.html in a browser, or: make serve"
	@echo "Sample class  _build/sample/graded/ summary.txt, grades.csv, results.json, feedback/"

env: .venv/.ready
notebooks: _build/.notebooks
book: _build/.book
downloads: _build/.downloads
sample: _build/.sample

# A torch that is already in .venv (a GPU build, say) is kept: only a missing one is installed.
.venv/.ready: pyproject.toml constraints.txt
	@$(PYTHON) -c "import sys; sys.exit(sys.version_info < (3, 11))" || { \
	  echo "Python 3.11 or newer is needed; '$(PYTHON)' is older or missing."; \
	  echo "Name another one: make PYTHON=python3.12"; exit 1; }
	@test -x $(PY) || $(PYTHON) -m venv .venv || { \
	  echo "Python could not make a virtual environment. On Debian and Ubuntu:"; \
	  echo "  sudo apt install python3-venv"; exit 1; }
	@$(PY) -c "import torch" 2>/dev/null || { \
	  echo "Installing $$(grep '^torch==' constraints.txt)"; \
	  $(PY) -m pip install "$$(grep '^torch==' constraints.txt)"; }
	@echo "Installing the course and what it needs (about 150 packages)"
	@grep -v '^torch==' constraints.txt > .venv/constraints.txt
	@$(PY) -m pip install --quiet --constraint .venv/constraints.txt --editable '.[dev]'
	@touch $@

_build/.notebooks: .venv/.ready $(TEXT) $(CODE)
	$(COURSE) notebooks
	@touch $@

_build/.book: _build/.notebooks $(TEXT) $(CODE)
	$(COURSE) book
	@touch $@

_build/.downloads: _build/.book
	$(COURSE) downloads
	@touch $@

_build/.sample: _build/.notebooks $(SAMPLE)
	@rm -rf _build/sample
	$(PY) tests/sample_class.py _build/sample/submitted
	$(COURSE) grade _build/sample/submitted --out _build/sample/graded --trust-students
	@touch $@

test: .venv/.ready
	$(PY) -m pytest -n auto --dist loadgroup

serve: book
	@echo "The book is at http://127.0.0.1:$(PORT)  (stop with Ctrl-C)"
	@$(PY) -m http.server --bind 127.0.0.1 --directory _build/html $(PORT)

clean:
	rm -rf _build
