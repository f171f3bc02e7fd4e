"""From the share in a test set to the rate of the process that made it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fewgold._arrays import FloatArray, RNGLike, as_rng
from fewgold._validate import check_choice, check_confidence
from fewgold.bayes._curve import Curve, PanelCurve, shortest
from fewgold.bayes._mixture import Mixture
from fewgold.bayes._panels import Panels
from fewgold.bayes._pool import PoolPosterior
from fewgold.bayes._priors import Priors
from fewgold.bayes._readout import Readout, check_chances
from fewgold.estimate import Interval


@dataclass(frozen=True, eq=False)
class ProcessPosterior(Readout):
    """Posterior of α behind a test set, some items of which were picked by their class.

    The test set is a sample of the process; what is left of it after picking is not. Given that T
    of its N items are adequate, α is Beta(a + T, b + N − T), so its posterior is a mixture of these
    with the weights of `PoolPosterior`. For a test set without picked items that is what
    `AlphaPosterior` gives.

    Parameters
    ----------
    pool
        Posterior of the share in the test set, with ``known`` items.

    Examples
    --------
    A judge that is right nine times of ten marked 1000 answers, of which 200 are adequate; people
    rated 150 of these and 150 others:

    >>> from fewgold.bayes import Counts
    >>> counts = Counts(tp=135, fn=15, fp=15, tn=135, metric_ones=110, metric_total=700,
    ...     pairs="calibration")
    >>> pool = PoolPosterior(counts, known=Counts(human_ones=150, human_total=300))
    >>> print(ProcessPosterior(pool).summary())
    0.1979 ± 0.0240 (posterior mean and sd)
    95% credible interval 0.1515 to 0.2442 (equal tails)
    from 1000 items, 300 of them rated by humans
    """

    pool: PoolPosterior

    def __repr__(self) -> str:
        if self.shape:
            return f"ProcessPosterior(a batch of shape {self.shape})"
        return f"ProcessPosterior({float(self.mean):.4f} ± {float(self.sd):.4f})"

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the batch; () for one posterior."""
        return self.pool.shape

    def draw(self, k: Any) -> ProcessPosterior:
        """The ``k``-th of a batch, or a smaller batch."""
        return ProcessPosterior(self.pool.draw(k))

    @cached_property
    def _mixtures(self) -> list[Mixture]:
        a, b = (self.pool.priors or Priors()).alpha
        sizes = np.broadcast_to(self.pool.size, self.shape).ravel()
        found = []
        for step, size in zip(self.pool.steps, sizes, strict=True):
            first = round(float(step.values[0] * size))
            found.append(Mixture(first, step.mass / step.mass.sum(), a, b, float(size)))
        return found

    @cached_property
    def laws(self) -> list[Curve]:
        """The density of each posterior of the batch: what comparisons go by."""
        return [PanelCurve(Panels.fit(m.log_density), m.log_density) for m in self._mixtures]

    @cached_property
    def _moments(self) -> FloatArray:
        return np.array([m.moments() for m in self._mixtures]).reshape(*self.shape, 2)

    @property
    def mean(self) -> FloatArray:
        """Posterior mean."""
        return np.asarray(self._moments[..., 0])

    @property
    def sd(self) -> FloatArray:
        """Posterior standard deviation."""
        return np.asarray(np.sqrt(self._moments[..., 1]))

    def _each(self, answers: list[Any]) -> FloatArray:
        array = np.array(answers, dtype=np.float64)
        return array.reshape(self.shape + array.shape[1:])

    def cdf(self, x: ArrayLike) -> FloatArray:
        """P(α ≤ x): (*batch, *x.shape)."""
        at = np.asarray(x, dtype=np.float64)
        return self._each([law.cdf(at) for law in self.laws])

    def quantile(self, p: ArrayLike) -> FloatArray:
        """Where the CDF reaches ``p``: (*batch, *p.shape)."""
        chances = check_chances(p)
        return self._each([law.quantile(chances) for law in self.laws])

    def interval(self, confidence: float = 0.95, kind: str = "equal") -> Interval:
        """Credible interval: equal tails, or ``kind="hdi"``, the shortest of all."""
        tail = 0.5 - 0.5 * check_confidence(confidence)
        if check_choice("kind", kind, ("equal", "hdi")) == "equal":
            ends = self.quantile([tail, 1 - tail])
        else:
            ends = self._each([shortest(law, confidence) for law in self.laws])
        return Interval(ends[..., 0], ends[..., 1])

    def sample(self, size: int, *, rng: RNGLike = None) -> FloatArray:
        """Independent draws of α: (*batch, size)."""
        generator = as_rng(rng)
        return self._each([law.quantile(generator.random(size)) for law in self.laws])

    @property
    def _source(self) -> str:
        return f"from {int(self.pool.size)} items, {int(self.pool.rated)} of them rated by humans"
