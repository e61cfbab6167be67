"""The search of the built book leads to each chapter."""

import pytest
from booksite import chapters

pytestmark = pytest.mark.slow

# A chapter -> a word for what it is about
TERMS = {
    "01_why_attention": "bandwidth",
    "02_scaled_dot_product": "softmax",
    "03_masking": "causal",
    "04_multi_head": "heads",
    "05_kv_cache": "grouped-query",
    "06_positional_encodings": "ALiBi",
    "07_residuals_and_norms": "residual",
    "08_feed_forward": "SwiGLU",
    "09_mixture_of_experts": "router",
    "10_sparse_attention": "sinks",
    "11_encoder_decoder": "tied",
    "12_training": "perplexity",
    "13_generation": "nucleus",
    "14_beyond_text": "patches",
}


def test_every_chapter_has_its_term():
    assert sorted(TERMS) == sorted(chapters())


@pytest.mark.parametrize("chapter", chapters())
def test_the_search_finds_a_chapter_by_its_term(chapter, site, browser):
    with browser.new_context() as context:
        page = context.new_page()
        page.goto(f"{site}/search.html?q={TERMS[chapter]}")
        page.wait_for_selector(f"ul.search li a[href*='{chapter}']", timeout=20_000)


def test_the_search_finds_nothing_for_a_word_that_is_nowhere(site, browser):
    with browser.new_context() as context:
        page = context.new_page()
        page.goto(f"{site}/search.html?q=xylophone")
        page.wait_for_selector("text=did not match any documents", timeout=20_000)
        assert page.locator("ul.search li").count() == 0
