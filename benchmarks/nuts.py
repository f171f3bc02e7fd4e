"""The binary model against NUTS, which the thesis sampled it with: agreement and speed in one run.

    python -m venv NUTS && NUTS/bin/pip install numpyro . && NUTS/bin/python benchmarks/nuts.py

Five chains of 12,000 draws, the first 2,000 of each for tuning, as in the thesis (von Däniken
2023). The chains run as one vectorised program, which was faster than one after the other. NumPyro
is no dependency of fewgold: without it this says so and ends. A second run, once all is compiled,
is timed too. Case: 527 paired ratings, 1000 by the metric alone, ρ = η = 0.7, α = 0.6; and two
others.
"""

from __future__ import annotations

import argparse
import time
from importlib.util import find_spec
from typing import Any

import numpy as np

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
CHAINS, DRAWS, TUNING = 5, 12_000, 2_000


def sampler(counts: Counts) -> Any:
    """NUTS for one study, and its data."""
    import numpyro  # type: ignore[import-not-found,unused-ignore]
    import numpyro.distributions as dist  # type: ignore[import-not-found,unused-ignore]
    from numpyro.infer import MCMC, NUTS  # type: ignore[import-not-found,unused-ignore]

    def model() -> None:
        alpha, rho, eta = (numpyro.sample(name, dist.Beta(1, 1)) for name in ("a", "r", "e"))
        paired = int(counts.paired_total)
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
        num_warmup=TUNING,
        num_samples=DRAWS - TUNING,
        num_chains=CHAINS,
        chain_method="vectorized",
        progress_bar=False,
    )


def by_nuts(counts: Counts, seed: int) -> tuple[float, float, float, float, float, float]:
    """Mean, sd, effective draws, R-hat, seconds with and without compilation."""
    import jax  # type: ignore[import-not-found,unused-ignore]
    from numpyro.diagnostics import summary  # type: ignore[import-not-found,unused-ignore]

    times = []
    mcmc = sampler(counts)
    for at in range(2):  # the second run finds the program compiled
        start = time.perf_counter()
        mcmc.run(jax.random.PRNGKey(seed + at))
        draws = np.asarray(mcmc.get_samples(group_by_chain=True)["a"])
        times.append(time.perf_counter() - start)
    told = summary({"a": draws})["a"]
    return float(draws.mean()), float(draws.std()), told["n_eff"], told["r_hat"], *times


def best(work: Any, repeats: int = 50) -> float:
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    if find_spec("numpyro") is None:
        print("NumPyro is not installed: nothing to compare with. pip install numpyro, and again.")
        return
    import numpyro  # type: ignore[import-not-found,unused-ignore]

    numpyro.enable_x64()
    print(f"NUTS: {CHAINS} × {DRAWS} draws, {TUNING} of each for tuning, NumPyro in 64 bits\n")
    for name, counts in CASES.items():
        mean, sd, worth, rhat, cold, warm = by_nuts(counts, args.seed)
        exact = AlphaPosterior(counts)
        error = sd / np.sqrt(worth)
        quick = best(lambda c=counts: moments(c))
        full = best(lambda c=counts: AlphaPosterior(c).interval())
        print(
            f"{name}\n"
            f"  mean  NUTS {mean:.5f} ± {error:.5f}   exact {exact.mean:.5f}   "
            f"{(mean - float(exact.mean)) / error:+.1f} Monte Carlo errors\n"
            f"  sd    NUTS {sd:.5f}             exact {exact.sd:.5f}   ratio "
            f"{sd / float(exact.sd):.4f}\n"
            f"  {worth:.0f} effective draws, R-hat {rhat:.4f}\n"
            f"  time  NUTS {cold:.1f} s, {warm:.1f} s once compiled; "
            f"mean and sd {1e3 * quick:.2f} ms, interval {1e3 * full:.2f} ms\n"
            f"  times faster: mean and sd {cold / quick:,.0f} ({warm / quick:,.0f} once compiled), "
            f"interval {cold / full:,.0f} ({warm / full:,.0f})\n"
        )


if __name__ == "__main__":
    main()
