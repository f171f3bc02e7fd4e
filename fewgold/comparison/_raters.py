"""What the raters add of their own: bias, spread and agreement."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fewgold._arrays import FloatArray, IntArray

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Raters:
    """An additive fit: score = output + rater, or score = segment + system + rater.

    Parameters
    ----------
    names
        R raters.
    count, mean
        (R,) ratings and their mean.
    bias, bias_se
        (R,) how far above the average rater each scores the same outputs; NaN for a rater who
        has nothing in common with another one.
    spread
        (R,) standard deviation of what output and bias leave over.
    alpha
        Krippendorff's α for interval data: 1 is perfect agreement, 0 that of chance.
    correlation
        Mean over pairs of raters with ten outputs in common, weighted by their number.
    outputs, shared
        Outputs rated, and those rated by two or more.
    connected
        False where the raters fall into circles with nothing in common: then biases compare
        raters of the same circle only.
    basis
        "outputs" where biases come from outputs that several rated, "segments" where they come from
        different systems on the same segments.
    covariance
        (R, R) of the biases.
    """

    names: tuple[str, ...]
    count: IntArray
    mean: FloatArray
    bias: FloatArray
    bias_se: FloatArray
    spread: FloatArray
    alpha: float
    correlation: float
    outputs: int
    shared: int
    connected: bool
    basis: str
    covariance: FloatArray

    def to_frame(self) -> pd.DataFrame:
        """A row a rater."""
        import pandas as pd

        return pd.DataFrame(
            {
                "rater": self.names,
                "ratings": self.count,
                "mean": self.mean,
                "bias": self.bias,
                "bias_se": self.bias_se,
                "spread": self.spread,
            }
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return {
            "alpha": self.alpha,
            "correlation": self.correlation,
            "outputs": self.outputs,
            "shared_outputs": self.shared,
            "connected": self.connected,
            "basis": self.basis,
            "raters": self.to_frame().to_dict("records"),
        }
