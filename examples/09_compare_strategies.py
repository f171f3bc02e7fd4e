"""Find out which strategy would have worked best on data that are already rated."""

import sys
import tempfile
from pathlib import Path

import fewgold as fg
from fewgold.bounds import Hoeffding
from fewgold.datasets import demo_systems, load_demo
from fewgold.estimators import KNN, Learned
from fewgold.samplers import Balanced

# All segments of these two systems are rated, so we know the true score and the error of a study.
systems = {name: load_demo("zhen", system=name) for name in demo_systems("zhen")[:2]}

# Strategies of fewgold by name, and one of your own.
strategies = {
    "docs-prop+mean": "docs-prop+mean",
    "random+cv-multi": "random+cv-multi",
    "docs-balanced+ridge": "docs-balanced+ridge",
    "my own": Learned(KNN(k=10), sampler=Balanced()),
}
simulation = fg.simulate(
    systems, strategies=strategies, budgets=[0.05, 0.10], draws=40, bounds=[Hoeffding()],
    limits=(0, 25), rng=0,
)  # fmt: skip
print(simulation.summary())

# One row per pool, strategy and budget, for your own tables.
frame = simulation.to_frame()
best = frame.loc[frame.groupby(["pool", "budget"])["abs_error"].idxmin()]
print("\nlowest error in each cell")
print(best[["pool", "budget", "n", "strategy", "abs_error", "abs_error_mc"]].to_string(index=False))

# A page with tables and plots, for the browser.
place = Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp()) / "strategies.html"
simulation.to_html(place)
print(f"\npage: {place}")
