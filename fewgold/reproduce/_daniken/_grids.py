"""Tables 1, 11 to 14, and 5.8 and 5.9 of the thesis: measurable differences over two sizes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtri

from fewgold._arrays import FloatArray, RNGLike
from fewgold.planning import Sampled, Setting
from fewgold.reproduce._daniken._printed import Grid

if TYPE_CHECKING:
    import pandas as pd

#: Studies that the thesis drew for each cell, and the draws of its sampler that we take for
#: independent in each: a tenth of 50,000.
THEIR_DRAWS, THEIR_SAMPLE = 50, 5000
#: Monte-Carlo errors, theirs and ours together, within which a sampled cell agrees. Of 96 cells
#: one would lie beyond 3 in a quarter of all runs, beyond 4 in one of 160.
ERRORS = 4.0
_HALF_DIGIT = 0.0005
_Z = float(ndtri(0.975))

_HOLDER = "1.000 is a place holder: without ratings the formula gives {:.3f}"
_KNOWN_CAUSES = {
    ("table1", 2500, 10_000): "a slip that the text repeats: the formula gives {:.4f}",
    ("table11", 1000, 50_000): "error of their grid: {:.7f} is a hair below the edge of rounding",
}
SQRT2 = "the √2 is left out: without it {:.3f} ± {:.4f}"


def grid_table(name: str, grid: Grid, draws: int = 50, rng: RNGLike = None) -> pd.DataFrame:
    """A row for each cell: printed, right, and what their way gives.

    ``their_way`` is ``here`` but for the thesis, whose tables leave out the √2; ``mc`` is the
    Monte-Carlo error of that, ours and theirs together.
    """
    import pandas as pd

    setting = Setting(
        alpha=grid.alpha,
        rho=grid.accuracy,
        eta=grid.accuracy,
        human=np.array(grid.human)[:, None],
        metric=np.array(grid.metric),
        known=grid.known,
    )
    sd, mc = _sampled(setting, draws, rng) if grid.sampled else (setting.sd(), np.zeros(()))
    mc = np.broadcast_to(mc, sd.shape)
    rows = []
    for (i, j), sigma in np.ndenumerate(sd):
        human, metric, printed = grid.human[i], grid.metric[j], grid.printed(i, j)
        here = float(np.sqrt(2) * _Z * sigma)
        theirs = here / np.sqrt(2) if grid.sampled else here
        error = float(_Z * mc[i, j])
        agrees = f"{here:.3f}" == printed
        explained = agrees
        cause = ""
        if human == metric == 0:
            cause, explained = _HOLDER.format(here), True
        elif grid.sampled:
            explained = bool(abs(theirs - float(printed)) <= _HALF_DIGIT + ERRORS * error)
            cause = SQRT2.format(theirs, error) if explained else ""
        elif not agrees and (name, human, metric) in _KNOWN_CAUSES:
            cause, explained = _KNOWN_CAUSES[name, human, metric].format(here), True
        rows.append(
            {
                **{"human": human, "metric": metric, "printed": float(printed), "here": here},
                **{"their_way": theirs, "mc": error, "agrees": agrees, "explained": explained},
                "cause": cause,
            }
        )
    return pd.DataFrame(rows)


def _sampled(setting: Setting, draws: int, rng: RNGLike) -> tuple[FloatArray, FloatArray]:
    """Mean posterior sd of sampled studies, and the error of its difference from theirs.

    That has three parts: our draws, their draws, and that they took each sd from MCMC. An sd from
    k independent draws has a relative error of 1/√(2k).
    """
    made = Sampled.of(setting, draws, rng)
    studies = made.sd_spread**2 * (1 / draws + 1 / THEIR_DRAWS)
    chains = made.sd**2 / (2 * THEIR_SAMPLE * THEIR_DRAWS)
    return made.sd, np.sqrt(studies + chains)
