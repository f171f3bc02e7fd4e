"""Every outcome of a random draw, with its probability, in place of a random generator."""

from __future__ import annotations

from dataclasses import fields, replace
from itertools import combinations, permutations, product
from math import factorial

import numpy as np


class Scripted(np.random.Generator):
    """A generator that gives prepared answers, in order, to each kind of question.

    Whole batches are prepared at once: the table for ``random`` holds one row a draw.
    """

    def __init__(self, *, permutation=(), permuted=(), random=(), integers=()):
        super().__init__(np.random.PCG64(0))
        self._answers = {
            "permutation": list(permutation),
            "permuted": list(permuted),
            "random": list(random),
            "integers": list(integers),
        }

    def _next(self, kind, shape=None):
        answer = np.asarray(self._answers[kind].pop(0))
        assert shape is None or answer.shape == tuple(np.atleast_1d(shape)), (kind, shape)
        return answer

    def permutation(self, x, axis=0):
        return self._next("permutation", x)

    def permuted(self, x, *, axis=None, out=None):
        return self._next("permuted", np.shape(x))

    def random(self, size=None, dtype=np.float64, out=None):
        return self._next("random", size)

    def integers(self, low, high=None, size=None, dtype=np.int64, endpoint=False):
        answer = self._next("integers", size)
        assert high is None and answer.min() >= 0 and answer.max() < low
        return answer


def grid(*tables):
    """All combinations of the rows of several tables, each as a table of as many rows."""
    index = list(product(*(range(len(t)) for t in tables)))
    return [np.asarray(t)[[i[k] for i in index]] for k, t in enumerate(tables)]


def document_orders(codes):
    """Every order of the documents: (D!, D)."""
    return np.array(list(permutations(range(max(codes) + 1))))


def all_within(codes):
    """Sort keys in [0, 1) for every order of the segments within each document."""
    codes = np.asarray(codes)
    members = [np.flatnonzero(codes == d) for d in range(codes.max() + 1)]
    table = []
    for orders in product(*(permutations(range(len(m))) for m in members)):
        keys = np.empty(codes.size)
        for rows, order in zip(members, orders, strict=True):
            keys[rows] = (np.array(order) + 0.5) / codes.size
        table.append(keys)
    assert len(table) == np.prod([factorial(len(m)) for m in members])
    return np.array(table)


def all_starts(size):
    """Every random start of a systematic sample, equally likely."""
    return np.arange(size)[:, None]


def all_draws(strata, counts):
    """Every sample of ``counts`` segments of each stratum, equally likely: (·, n) rows."""
    strata = np.asarray(strata)
    parts = [list(combinations(np.flatnonzero(strata == h), c)) for h, c in enumerate(counts) if c]
    return np.array([[row for part in choice for row in part] for choice in product(*parts)])


def batch_of(design, draws):
    """The same one-draw design for each of ``draws`` samples."""
    arrays = {
        f.name: np.broadcast_to(v, (draws, *v.shape))
        for f in fields(design)
        if isinstance(v := getattr(design, f.name), np.ndarray)
    }
    return replace(design, **arrays)


class _Choice:
    """Stands for a uniform number: when compared, follows the script and notes the probability."""

    def __init__(self, walk, scale=1.0):
        self.walk, self.scale = walk, scale

    def __mul__(self, scale):
        return _Choice(self.walk, self.scale * np.asarray(scale))

    __rmul__ = __mul__

    def __lt__(self, bound):
        chance = np.atleast_1d(np.asarray(bound / self.scale, dtype=float))
        return np.array([self.walk.choose(float(c)) for c in chance])


class _Walk(np.random.Generator):
    """Prepared orders and sort keys (tables), and yes or no for every single number asked for."""

    def __init__(self, script, orders, keys):
        super().__init__(np.random.PCG64(0))
        self.script, self.chances, self.taken = list(script), [], []
        self.orders, self.keys = list(orders), list(keys)

    def permuted(self, x, *, axis=None, out=None):
        return np.asarray(self.orders.pop(0)).reshape(np.shape(x))

    def random(self, size=None, dtype=np.float64, out=None):
        if isinstance(size, tuple) and len(size) == 2:
            return np.asarray(self.keys.pop(0)).reshape(size)
        return _Choice(self)

    def choose(self, chance):
        if chance <= 0 or chance >= 1:
            return chance >= 1
        step = len(self.taken)
        yes = self.script[step] if step < len(self.script) else True
        self.taken.append(yes)
        self.chances.append(chance if yes else 1 - chance)
        return yes


def cube_tree(draw, orders=(), keys=()):
    """All outcomes of ``draw(rng)`` where rng decides yes or no: list of (outcome, probability)."""
    found, script = [], []
    while True:
        walk = _Walk(script, orders, keys)
        outcome = draw(walk)
        found.append((outcome, float(np.prod(walk.chances))))
        # Next leaf of the tree: turn the last yes into a no.
        path = walk.taken
        while path and not path[-1]:
            path.pop()
        if not path:
            return found
        script = [*path[:-1], False]
