"""Draw how much fewgold gains: many studies of the same data, made in three ways.

    python docs/pictures/gain.py [gain.svg]

Each dot is the estimate of one study with 100 ratings, on synthetic data (``zhen``) whose true
score is known; ``benchmarks/alternatives.py`` has figures of more studies. The SVG has light and
dark colours and follows the setting of the reader's screen.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np

from fewgold import registry
from fewgold.datasets import load_demo

WAYS = {
    "random+mean": ("Random sample, plain mean", "what most people do"),
    "random+ridge": (
        "Random sample, corrected mean",
        "by metrics, as in prediction-powered inference",
    ),
    "docs-balanced+ridge": ("fewgold chooses and corrects", "docs-balanced+ridge, the default"),
}
RATINGS, STUDIES, NEAR = 100, 500, 0.5
LEFT, WIDTH, ROW, TOP, DOT = 330, 430, 104, 84, 5.0
LOW, HIGH = 3.4, 6.7
STYLE = """
  .card { fill: #ffffff; stroke: #d5d9e0 } .ink { fill: #1c2430 } .soft { fill: #5b6675 }
  .near { fill: #2f6fde } .far { fill: #b9c0cb } .line { stroke: #c2410c } .truth { fill: #c2410c }
  .axis { stroke: #d5d9e0 }
  text { font-family: system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; font-size: 14px }
  .big { font-size: 17px; font-weight: 600 } .bold { font-weight: 600 } .small { font-size: 12.5px }
  @media (prefers-color-scheme: dark) {
    .card { fill: #161b22; stroke: #353c47 } .ink { fill: #e8ecf2 } .soft { fill: #9aa6b5 }
    .near { fill: #6ea8fe } .far { fill: #4d5766 } .line { stroke: #fb923c }
    .truth { fill: #fb923c } .axis { stroke: #353c47 }
  }
"""


def x(score: float) -> float:
    return LEFT + WIDTH * (score - LOW) / (HIGH - LOW)


def swarm(values: list[float], base: float, truth: float) -> list[str]:
    """Dots in columns on a line; those near the truth are coloured."""
    step, height = (HIGH - LOW) / WIDTH * DOT, {}
    dots = []
    for value in sorted(values):
        column = int((min(max(value, LOW), HIGH - step) - LOW) // step)
        height[column] = height.get(column, 0) + 1
        kind = "near" if abs(value - truth) <= NEAR else "far"
        cx, cy = LEFT + DOT * (column + 0.5), base - 1.8 * (2 * height[column] - 1)
        dots.append(f'<circle class="{kind}" cx="{cx:.1f}" cy="{cy:.1f}" r="1.7"/>')
    return dots


def draw() -> str:
    pool, gold = load_demo("zhen")
    # All ratings cost the same here. The demo's costs are its metric `words` once more, and what
    # balancing one variate twice does is decided by rounding, other than on other machines.
    pool = replace(pool, cost=None)
    truth = float(gold.mean())
    width, bottom = LEFT + WIDTH + 30, TOP + ROW * len(WAYS)
    parts, shares = [], []
    for k, (name, (title, note)) in enumerate(WAYS.items()):
        strategy = registry.strategy(name, pool)
        made = strategy.run(pool, lambda s: gold[s.indices], RATINGS, draws=STUDIES, rng=1)
        values = np.asarray(made.value)
        error, share = np.abs(values - truth).mean(), np.mean(np.abs(values - truth) <= NEAR)
        shares.append(share)
        base = TOP + ROW * (k + 1) - 14
        parts += [
            f'<text class="ink bold" x="24" y="{base - 42}">{title}</text>',
            f'<text class="soft small" x="24" y="{base - 23}">{note}</text>',
            f'<text class="ink small" x="24" y="{base - 4}">typical error '
            f'<tspan class="bold">{error:.2f}</tspan>, within {NEAR}: '
            f'<tspan class="bold">{share:.0%}</tspan></text>',
            f'<line class="axis" x1="{LEFT}" y1="{base}" x2="{LEFT + WIDTH}" y2="{base}"/>',
            *swarm(values.tolist(), base, truth),
        ]
    marks = [
        f'<text class="soft small" x="{x(m):.1f}" y="{bottom + 8}" text-anchor="middle">'
        f"{m:.1f}</text>"
        for m in (3.5, 4.0, 4.5, 5.0, 5.5, 6.0, 6.5)
    ]
    alt = (
        f"Estimates of studies with {RATINGS} ratings each. Within {NEAR} of the true score: "
        + ", ".join(f"{t.lower()} {s:.0%}" for (t, _), s in zip(WAYS.values(), shares, strict=True))
    )
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {bottom + 36}" '
            f'width="{width}" height="{bottom + 36}" role="img" aria-label="{alt}">',
            f"<title>{alt}</title>",
            f"<style>{STYLE}</style>",
            f'<rect class="card" x="0.5" y="0.5" width="{width - 1}" height="{bottom + 35}" '
            'rx="10"/>',
            f'<text class="ink big" x="24" y="34">{STUDIES} studies of {len(pool):,} outputs, '
            f"with {RATINGS} ratings each</text>",
            '<text class="soft" x="24" y="56">Each dot is the estimate of one study.</text>',
            f'<text class="truth small" x="{x(truth):.1f}" y="{TOP - 8}" text-anchor="middle">'
            f"true score {truth:.2f}</text>",
            f'<line class="line" x1="{x(truth):.1f}" y1="{TOP}" x2="{x(truth):.1f}" '
            f'y2="{bottom - 10}" stroke-dasharray="3 3"/>',
            *parts,
            *marks,
            f'<text class="soft small" x="{LEFT}" y="{bottom + 26}">mean penalty (0 to 25); '
            f"blue: within {NEAR} of the true score</text>",
            "</svg>\n",
        ]
    )


if __name__ == "__main__":
    place = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_suffix(".svg")
    place.write_text(draw(), encoding="utf-8")
    print(place)
