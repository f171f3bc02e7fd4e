"""A posterior together with the ratings that it came from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from numpy.typing import ArrayLike

from fewgold._arrays import FloatArray, RNGLike
from fewgold.bayes._readout import Readout
from fewgold.estimate import Interval, signature
from fewgold.sample import Ratings

_KINDS = {"equal": "credible interval with equal tails", "hdi": "shortest credible interval"}


class Posterior(Protocol):
    """What the models of this package have in common."""

    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def mean(self) -> FloatArray: ...
    @property
    def sd(self) -> FloatArray: ...
    @property
    def laws(self) -> Sequence[Any]: ...
    def draw(self, k: Any) -> Any: ...
    def interval(self, confidence: float = 0.95, kind: str = "equal") -> Interval: ...
    def cdf(self, x: ArrayLike) -> FloatArray: ...
    def quantile(self, p: ArrayLike) -> FloatArray: ...
    def sample(self, size: int, *, rng: RNGLike = None) -> FloatArray: ...


@dataclass(frozen=True, eq=False)
class RatedPosterior(Readout):
    """Posterior of the success rate, from the ratings of a sample: an estimate like the others.

    Parameters
    ----------
    posterior
        Of the test set or of the process; it knows more than is shown here, such as its density.
    ratings
        The ratings it was made from.
    method
        Short name of the estimator.
    how
        What the metric counts as a 1, such as ``comet >= 0.5``; empty without a metric.
    kind
        ``"equal"`` tails or ``"hdi"``, the shortest interval.
    target
        ``"pool"`` or ``"process"``.
    notes
        What a reader must know.
    """

    posterior: Posterior
    ratings: Ratings
    method: str
    how: str = ""
    kind: str = "equal"
    target: str = "pool"
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        if self.shape:
            return f"RatedPosterior({self.method}, a batch of shape {self.shape})"
        return (
            f"RatedPosterior({self.method}: {float(self.mean):.4f} ± {float(self.sd):.4f}, "
            f"n = {self.ratings.n})"
        )

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the batch; () for one study."""
        return self.posterior.shape

    @property
    def mean(self) -> FloatArray:
        """Posterior mean."""
        return self.posterior.mean

    @property
    def sd(self) -> FloatArray:
        """Posterior standard deviation."""
        return self.posterior.sd

    @property
    def laws(self) -> Sequence[Any]:
        """What comparisons go by."""
        return self.posterior.laws

    def draw(self, k: Any) -> RatedPosterior:
        """The ``k``-th of a batch, or a smaller batch."""
        return replace(self, posterior=self.posterior.draw(k), ratings=self.ratings.draw(k))

    def cdf(self, x: ArrayLike) -> FloatArray:
        """P(success rate ≤ x): (*batch, *x.shape)."""
        return self.posterior.cdf(x)

    def quantile(self, p: ArrayLike) -> FloatArray:
        """Where the CDF reaches ``p``: (*batch, *p.shape)."""
        return self.posterior.quantile(p)

    def sample(self, size: int, *, rng: RNGLike = None) -> FloatArray:
        """Independent draws of the success rate: (*batch, size)."""
        return self.posterior.sample(size, rng=rng)

    def interval(self, confidence: float = 0.95, kind: str | None = None) -> Interval:
        """Credible interval, of the estimator's kind unless another is asked for."""
        return self.posterior.interval(confidence, kind or self.kind)

    def signature(self, confidence: float = 0.95) -> str:
        """All that is needed to tell how the number was made, in one line."""
        how = f"posterior-{self.kind}-{self.target}"
        told = not self.how or self.how.replace(" ", "") in self.method
        method = self.method if told else f"{self.method}({self.how})"
        return signature(self.ratings, method, how, confidence)

    @property
    def remarks(self) -> tuple[str, ...]:
        """The notes, and what the ratings themselves warn of."""
        return (*self.notes, *self.ratings.warnings)

    @property
    def _label(self) -> str:
        return f"posterior, {_KINDS[self.kind]}"

    @property
    def _source(self) -> str:
        of = "" if self.target == "pool" else ", for the system that made them"
        return f"from {self.ratings.n} of {len(self.ratings.sample.pool)} segments{of}"

    def summary(self, confidence: float = 0.95) -> str:
        """A few lines for people."""
        self._check_single("summary")
        low, high = self.interval(confidence)
        level = f"{100 * confidence:.6g}%"
        lines = [
            f"{float(self.mean):.4f} ± {float(self.sd):.4f} (posterior mean and sd)",
            f"{level} interval {low:.4f} to {high:.4f} ({self._label})",
            self._source,
            *([f"metric: {self.how}"] if self.how else []),
            *(f"note: {note}" for note in self.remarks),
            self.signature(confidence),
        ]
        return "\n".join(lines)

    @property
    def _hits(self) -> dict[str, float | None]:
        """Share of rated adequate and inadequate segments that a metric of 0 and 1 recognises."""
        counts = getattr(self.posterior, "counts", None)
        if self.shape or counts is None or not int(counts.paired_total):
            return {}
        yes, no = int(counts.tp + counts.fn), int(counts.tn + counts.fp)
        return {
            "rho": int(counts.tp) / yes if yes else None,
            "eta": int(counts.tn) / no if no else None,
        }

    def to_dict(self, confidence: float = 0.95) -> dict[str, Any]:
        """The posterior in plain numbers, for JSON."""
        return {
            **super().to_dict(confidence),
            "bound_label": self._label,
            "method": self.method,
            "metric": self.how,
            "target": self.target,
            **self._hits,
            "n": self.ratings.n,
            "pool_size": len(self.ratings.sample.pool),
            "notes": list(self.remarks),
            "signature": self.signature(confidence),
        }
