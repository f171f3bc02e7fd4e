"""Several ratings of a segment: one score by a stated rule, and how far the raters agree."""

from fewgold.agreement._agreement import Agreement, RaterError
from fewgold.agreement._alpha import krippendorff, krippendorff_nominal
from fewgold.agreement._answers import Answers
from fewgold.agreement._components import Components

__all__ = [
    "Agreement",
    "Answers",
    "Components",
    "RaterError",
    "krippendorff",
    "krippendorff_nominal",
]
