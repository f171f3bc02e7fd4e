"""The public check kit over everything in the registry."""

from typing import Any

import pytest

from fewgold import registry
from fewgold.testing import check_bound, check_estimator, check_sampler, toy_pool
from sweeps import quick

BIASED = {"docs-prop-printed", "docs-opt-printed", "docs-incr-human", "docs-incr-metrics"}
BIASED |= {"docs-incr-human-printed", "docs-incr-metrics-printed"}
POOL, GOLD = toy_pool()


#: Taken apart in tests of their own, which cost less.
LONG = {"docs-balanced", "cv-forest", "gaffke"}


def but_long(names: list[str]) -> list[Any]:
    short = [n for n in names if n not in LONG and not n.startswith("cv-sklearn:")]
    return quick(names, short)


@pytest.mark.parametrize("name", but_long(registry.sampler_names()))
def test_sampler(name: str) -> None:
    check_sampler(registry.sampler(name), unbiased=name not in BIASED)


@pytest.mark.parametrize("name", but_long(registry.estimator_names(POOL)))
def test_estimator(name: str) -> None:
    made = registry.estimator(name, POOL)
    # Trees break ties by rounding errors, so that a forest follows a turned scale only nearly.
    trees = name == "cv-forest" or name.endswith(("_forest", "_trees", "_boosting", "isotonic"))
    exact = not name.endswith("-printed") and not trees and name != "alpha"
    check_estimator(made, equivariant=exact, adequate=">= 5" if name == "alpha" else None)


def test_a_forest_learns_what_the_metrics_tell() -> None:
    made = registry.estimator("cv-forest", POOL)
    sample = registry.sampler("random").draw(POOL, 40, rng=2)
    estimate = made.estimate(sample.rate(GOLD[sample.indices]))
    mean = registry.estimator("mean", POOL).estimate(sample.rate(GOLD[sample.indices]))
    assert abs(estimate.value - GOLD.mean()) < 4 * estimate.se
    assert 0 < estimate.se < mean.se


@pytest.mark.parametrize("cut", [":equal", ":information", ">=0", "<0", ":bins"])
def test_binary_estimator(cut: str) -> None:
    made = registry.estimator(f"alpha-comet{cut}", POOL)
    check_estimator(made, equivariant=False, adequate=">= 5")


@pytest.mark.parametrize("name", registry.strategy_names(POOL))
def test_strategy(name: str) -> None:
    check_estimator(registry.strategy(name, POOL))


@pytest.mark.parametrize("name", but_long(registry.bound_names()))
def test_bound(name: str) -> None:
    two_values = name in ("hypergeometric", "clopper-pearson")
    check_bound(
        registry.bound(name),
        population=(lambda rng: 25.0 * (rng.random(200) < 0.2)) if two_values else None,
    )


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("<img src=x onerror=alert(1)>", "<p>&lt;img src=x onerror=alert(1)&gt;</p>\n"),
        ("[a](javascript:alert(1))", "<p>[a](javascript:alert(1))</p>\n"),
        ('[a](https://x.org/"onclick=alert)', "<p>[a](https://x.org/&quot;onclick=alert)</p>\n"),
        ("`<b>` **`x`**", "<p><code>&lt;b&gt;</code> **<code>x</code>**</p>\n"),
        ("1. one\n2. two\n   more", "<ol>\n<li>one</li>\n<li>two more</li>\n</ol>\n"),
        ("> said\n\nnot said", "<blockquote><p>said</p></blockquote>\n<p>not said</p>\n"),
        ("5 * 3 * 2 and snake_case", "<p>5 * 3 * 2 and snake_case</p>\n"),
        ("###### six", "<p>###### six</p>\n"),
        ("", ""),
    ],
)
def test_markdown_of_instructions_is_safe(text: str, html: str) -> None:
    from fewgold.common.markdown import to_html

    assert to_html(text) == html


def test_links_of_instructions_open_elsewhere() -> None:
    from fewgold.common.markdown import to_html

    made = to_html("See [the *guide*](https://example.org/a?b=1&c=2).")
    assert made == (
        '<p>See <a href="https://example.org/a?b=1&amp;c=2" target="_blank" '
        'rel="noopener noreferrer">the <em>guide</em></a>.</p>\n'
    )
