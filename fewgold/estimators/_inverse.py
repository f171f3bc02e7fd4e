"""Inverses of the products of controls, also where these nearly follow from each other."""

from __future__ import annotations

import numpy as np

from fewgold._arrays import BoolArray, FloatArray

# Sum of a row of an inverse, in units of the trace, from which on it is not to be trusted.
_STEEP = 1e5


def inverse_of(gram: FloatArray, real: BoolArray) -> FloatArray:
    """Inverse of the part of ``gram`` (..., p, p) that belongs to ``real`` controls, else 0.

    A pseudo-inverse where metrics (nearly) follow from each other.
    """
    if gram.shape[-1] == 1:
        return np.asarray(real[..., None] / np.where(real[..., None], gram, 1.0))
    size = np.diagonal(gram, axis1=-2, axis2=-1)
    if real.all():
        return _steady_inverse(gram, gram, size.sum(-1))
    kept = real[..., None, :] & real[..., None]
    scale = np.where(real, size, 0.0).sum(-1)
    gram = gram * kept
    # The trace holds the place of controls without a slope.
    held = np.where(scale > 0, scale, 1.0)[..., None, None] * _identity(~real)
    return _steady_inverse(gram, gram + held, scale) * kept


def _steady_inverse(gram: FloatArray, filled: FloatArray, scale: FloatArray) -> FloatArray:
    """Inverse of ``filled``, or pseudo-inverse of ``gram`` where that one is not to be trusted.

    ``scale`` (...) is the trace of ``gram``.
    """
    try:
        inverse = np.linalg.inv(filled)
        size = np.abs(inverse)
        if size.max() * scale.max() * gram.shape[-1] <= _STEEP:  # the sums need not be taken
            return np.asarray(inverse)
        steep = size.sum(-1).max(-1) * scale > _STEEP
    except np.linalg.LinAlgError:
        inverse, steep = np.empty_like(gram), np.ones(gram.shape[:-2], dtype=bool)
    if steep.any():
        inverse[steep] = np.linalg.pinv(gram[steep], rcond=1e-10, hermitian=True)
    return np.asarray(inverse)


def _identity(where: BoolArray) -> FloatArray:
    """(..., p) -> (..., p, p) with 1 on the diagonal, where asked for."""
    return np.asarray(where[..., None] * np.eye(where.shape[-1]))
