"""Compare the binary model with NUTS, which the thesis used; for docs/speed.md.

    python -m venv NUTS && NUTS/bin/pip install numpyro . && NUTS/bin/python benchmarks/nuts.py

Shows agreement and speed in one run. As in the thesis (von Däniken 2023) there are five chains of
12,000 draws, with the first 2,000 of each for tuning. The chains run as one vectorised program,
which was faster than one after the other. A second run, when everything is compiled, is timed too.
NumPyro is not a dependency of fewgold; without it this ends with exit code 3. The studies are one
with 527 paired ratings, 1000 by the metric alone, ρ = η = 0.7 and α = 0.6, and two others.
"""

from __future__ import annotations

import argparse
import sys
import time
from importlib.util import find_spec
from typing import Any

import numpy as np
from _common import NO_DATA, best_of, read, table
from _common import arguments as common

from fewgold.bayes import AlphaPosterior, Counts, moments

CASES = {
    "527 paired, 1000 metric": Counts(
        tp=221, fn=95, fp=63, tn=148, metric_ones=540, metric_total=1000
    ),
    "50 paired, 10,000 metric": Counts(
        tp=24, fn=6, fp=4, tn=16, metric_ones=5600, metric_total=10_000
    ),
    "20 paired, 30 human, 300 metric": Counts(
        human_ones=3, human_total=30, tp=1, fn=1, fp=4, tn=14, metric_ones=75, metric_total=300
    ),
}
CHAINS = 5


def sampler(counts: Counts, draws: int) -> Any:
    """NUTS for one study, and its data."""
    import numpyro  # type: ignore[import-not-found,unused-ignore]
    import numpyro.distributions as dist  # type: ignore[import-not-found,unused-ignore]
    from numpyro.infer import MCMC, NUTS  # type: ignore[import-not-found,unused-ignore]

    def model() -> None:
        alpha, rho, eta = (numpyro.sample(name, dist.Beta(1, 1)) for name in ("a", "r", "e"))
        paired = int(counts._paired_total)
        adequate = int(counts.tp) + int(counts.fn)
        observed = {
            "human": (alpha, counts.human_ones, counts.human_total),
            "paired": (alpha, adequate, paired),
            "hit": (rho, counts.tp, adequate),
            "passed": (eta, counts.tn, paired - adequate),
            "metric": (
                alpha * rho + (1 - alpha) * (1 - eta),
                counts.metric_ones,
                counts.metric_total,
            ),
        }
        for name, (chance, ones, total) in observed.items():
            if int(total):
                law = dist.Binomial(int(total), chance)
                numpyro.sample(name, law, obs=int(ones))

    return MCMC(
        NUTS(model),
        num_warmup=draws // 6,
        num_samples=draws - draws // 6,
        num_chains=CHAINS,
        chain_method="vectorized",
        progress_bar=False,
    )


def by_nuts(
    counts: Counts, seed: int, size: int
) -> tuple[float, float, float, float, float, float]:
    """Mean, sd, effective draws, R-hat, seconds with and without compilation."""
    import jax  # type: ignore[import-not-found,unused-ignore]
    from numpyro.diagnostics import summary  # type: ignore[import-not-found,unused-ignore]

    times = []
    mcmc = sampler(counts, size)
    for at in range(2):  # the second run finds the program compiled
        start = time.perf_counter()
        mcmc.run(jax.random.PRNGKey(seed + at))
        draws = np.asarray(mcmc.get_samples(group_by_chain=True)["a"])
        times.append(time.perf_counter() - start)
    told = summary({"a": draws})["a"]
    return float(draws.mean()), float(draws.std()), told["n_eff"], told["r_hat"], *times


def arguments() -> argparse.ArgumentParser:
    parser = common(__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--draws", type=int, default=12_000, help="draws per chain")
    return parser


def main() -> None:
    options = read(arguments(), draws=600)
    if find_spec("numpyro") is None:
        print("This needs NumPyro. Install it with: pip install numpyro.", file=sys.stderr)
        raise SystemExit(NO_DATA)
    import numpyro  # type: ignore[import-not-found,unused-ignore]

    numpyro.enable_x64()
    print(f"NUTS: {CHAINS} × {options.draws} draws, a sixth of them for tuning, in 64 bits\n")
    agree, speed = [], []
    for name, counts in CASES.items():
        mean, sd, worth, rhat, cold, warm = by_nuts(counts, options.seed, options.draws)
        exact = AlphaPosterior(counts)
        error = sd / np.sqrt(worth)
        off = (mean - float(exact.mean)) / error
        agree.append([
            name, f"{mean:.5f} ± {error:.5f}", f"{exact.mean:.5f}", f"{off:+.1f}",
            f"{sd / float(exact.sd):.4f}", f"{worth:.0f}", f"{rhat:.4f}",
        ])  # fmt: skip
        quick = best_of(50, lambda c=counts: moments(c))  # type: ignore[misc]
        full = best_of(50, lambda c=counts: AlphaPosterior(c).interval())  # type: ignore[misc]
        ratios = (f"{took / ours:,.0f}" for ours in (quick, full) for took in (cold, warm))
        speed.append([name, f"{cold:.1f}", f"{warm:.1f}", *ratios])
    heads = ["mean, NUTS", "exact", "Monte Carlo errors", "sd / exact", "worth", "R-hat"]
    table(["", *heads], agree)
    heads = ["mean and sd", "once compiled", "interval", "once compiled"]
    table(["times faster", "NUTS, s", "once compiled, s", *heads], speed)


if __name__ == "__main__":
    main()
