"""The number of adequate items among the unrated of all categories: sums of beta-binomials.

Given a node of the mixture, the numbers in the categories are independent, so that the
characteristic function of their sum is a product. That of the mixture is the weighted sum of the
products, and turned back once. Only the frequencies that matter are computed.
"""

from __future__ import annotations

import numpy as np
from scipy import fft

from fewgold._arrays import FloatArray, IntArray
from fewgold.bayes._cell_nodes import PANELS, Nodes, fejer, interpolation
from fewgold.bayes._waves import ComplexArray, phases, transform, urns

_LEFT_OUT = 1e-5  # chance of all that is not looked at
_SKIP = 4
_SMALL = 256  # items, up to which nothing is interpolated
_LOW = 64  # frequencies below which it is
_BLOCK = 32  # frequencies at a time
_NOTHING = 3e-6  # what higher frequencies may be left out below


def total_mass(nodes: Nodes, unrated: IntArray, sharp: bool = False, every: int = 1) -> FloatArray:
    """Chances of 0, 1, …, U adequate items among ``unrated`` (J,), for nodes (M, P) and (M, P, J).

    High frequencies matter where sums have spikes, as with rates next to 0 or 1, and there nothing
    is interpolated; at low ones neither if the sums are ``sharp``. There only one point in
    ``every`` (1 or 2) is looked at, of the rule with fewer panels.
    """
    period = int(unrated.sum()) + 1
    direct = sharp or nodes.weight.shape[1] == 1 or period <= _SMALL
    thin = _thinned(nodes) if every == 2 and nodes.weight.shape[1] > 1 else nodes
    waves = _Direct(thin, unrated) if direct else _Interpolated(nodes, unrated)
    spectrum = np.zeros(period // 2 + 1, dtype=np.complex128)
    for start in range(0, spectrum.size, _BLOCK):
        stop = min(start + _BLOCK, spectrum.size)
        if start == _LOW and not direct:
            waves = _Direct(thin, unrated)
        here = waves.at(start, stop)
        spectrum[start:stop] = here.sum(0)
        if np.abs(here[:, -4:]).sum(0).max() < _NOTHING:
            break
    mass = np.maximum(fft.irfft(spectrum.conj(), period), 0.0)
    mass[mass < 1e-14] = 0.0
    return np.asarray(mass / mass.sum())


class _Direct:
    """Weighted characteristic functions at all points that matter."""

    def __init__(self, nodes: Nodes, unrated: IntArray) -> None:
        flat = nodes.weight.ravel()
        kept = _heavy(flat)
        count = unrated.size
        a, b = nodes.a.reshape(-1, count)[kept], nodes.b.reshape(-1, count)[kept]
        self.weight = flat[kept] / flat[kept].sum()
        self.chances = [urns(a[:, j], b[:, j], int(unrated[j])) for j in np.flatnonzero(unrated)]
        self.period = int(unrated.sum()) + 1

    def at(self, start: int, stop: int) -> ComplexArray:
        """At the frequencies from ``start`` to ``stop``: (points, frequencies)."""
        here = np.multiply.outer(self.weight, np.ones(stop - start, dtype=np.complex128))
        for chance in self.chances:
            here *= transform(chance, self.period, start, stop)
        return np.asarray(here)


class _Interpolated:
    """The same from every fourth point.

    With few ratings the rate of a model varies by more than the sums do given the rate, and the
    sums must be known at many rates. But for its mean, which is known at all points, the bulk of a
    sum changes little from one to the next: so the characteristic function of the centred sum is
    interpolated.
    """

    def __init__(self, nodes: Nodes, unrated: IntArray) -> None:
        weight, a, b = (x[_heavy(nodes.weight.sum(-1))] for x in nodes)
        self.weight = weight / weight.sum()
        self.mean = np.vecdot(a / (a + b), unrated.astype(np.float64))
        few = a[:, _SKIP - 1 :: _SKIP], b[:, _SKIP - 1 :: _SKIP]
        self.chances = [
            urns(few[0][..., j].ravel(), few[1][..., j].ravel(), int(unrated[j]))
            for j in np.flatnonzero(unrated)
        ]
        self.period = int(unrated.sum()) + 1

    def at(self, start: int, stop: int) -> ComplexArray:
        """At the frequencies from ``start`` to ``stop``: (points, frequencies)."""
        turn = phases(self.mean, self.period, start, stop)
        centred = turn[:, _SKIP - 1 :: _SKIP].conj()
        for chance in self.chances:
            centred *= transform(chance, self.period, start, stop).reshape(centred.shape)
        between = interpolation(PANELS, _SKIP) @ centred.view(np.float64)
        here = self.weight[..., None] * turn * between.view(np.complex128)
        return np.asarray(here.reshape(-1, stop - start))


def _thinned(nodes: Nodes) -> Nodes:
    """Every second point, with the weights of the rule that has half the panels."""
    panels = nodes.weight.shape[1] + 1
    factor = fejer(panels // 2)[1] / fejer(panels)[1][1::2]
    return Nodes(nodes.weight[:, 1::2] * factor, nodes.a[:, 1::2], nodes.b[:, 1::2])


def _heavy(weight: FloatArray) -> IntArray:
    """Which of the weights (G,) to keep, so that next to nothing is left out."""
    order = np.argsort(weight)
    return np.asarray(order[np.cumsum(weight[order]) > _LEFT_OUT])
