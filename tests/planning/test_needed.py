"""The fewest ratings that measure a difference."""

import numpy as np
import pytest

from fewgold.errors import DesignError, FewgoldError
from fewgold.planning import measurable_difference, ratings_needed


@pytest.mark.parametrize("power", [None, 0.8])
@pytest.mark.parametrize("difference", [0.3, 0.08, 0.011])
def test_people_alone_by_the_formula(difference, power):
    """σ² = α(1 − α)/(n + 3) nearly, so that n follows from ε."""
    n = ratings_needed(difference, alpha=0.6, power=power)
    times = np.sqrt(2) * (1.959964 + (0.841621 if power else 0))
    assert n == pytest.approx(0.24 * (times / difference) ** 2 - 3, rel=0.02, abs=1.5)


@pytest.mark.parametrize("known", [False, True])
@pytest.mark.parametrize("fixed", [{"human": 300}, {"metric": 500}])
def test_it_is_enough_and_one_less_is_not(fixed, known):
    study = {"alpha": 0.7, "rho": 0.9, "eta": 0.8, "known": known}
    name = "metric" if "human" in fixed else "human"
    n = ratings_needed(0.06, **study, **fixed)
    around = measurable_difference(**study, **fixed, **{name: [n - 1, n]})
    assert around[0] > 0.06 >= around[1]


def test_claims_of_the_paper():
    """2 points with 2500 human ratings and known ρ, η; 10 points with the metric alone."""
    study = {"alpha": 0.6, "rho": 0.7, "eta": 0.7}
    assert ratings_needed(0.02, **study, human=2500, known=True) == pytest.approx(13_640, abs=10)
    assert ratings_needed(0.10, **study, human=0, known=True) == pytest.approx(1190, abs=5)
    with pytest.raises(DesignError, match=r"10,000,000 of them measure 0\.0250"):
        ratings_needed(0.02, **study, human=2500)


def test_nothing_may_be_needed():
    assert ratings_needed(0.9, alpha=0.5) == 0
    assert ratings_needed(0.2, alpha=0.6, human=1000, rho=0.9, eta=0.9) == 0


def test_refusals():
    with pytest.raises(FewgoldError, match="difference must lie"):
        ratings_needed(0, alpha=0.5)
    with pytest.raises(FewgoldError, match=r"cannot differ by 0\.3"):
        ratings_needed(0.3, alpha=0.99, power=0.8)
    with pytest.raises(FewgoldError, match="give human or metric"):
        ratings_needed(0.1, alpha=0.5, human=1, metric=1)
