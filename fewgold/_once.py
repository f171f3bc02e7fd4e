"""A cached property for what all draws of a batch share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

import numpy as np

T = TypeVar("T")


class once(Generic[T]):
    """A cached property that is worked out for one draw where all of a batch share the design.

    The object says so by ``_one``, the same for one draw, or None. Private properties then stay
    those of the one draw, without batch axes: they broadcast by themselves. Unlike
    `functools.cached_property` of Python 3.11 it takes no lock, which for arrays of a few numbers
    would be a good part of the work.
    """

    def __init__(self, compute: Callable[[Any], T]) -> None:
        self._compute, self._name, self.__doc__ = compute, compute.__name__, compute.__doc__

    @overload
    def __get__(self, design: None, owner: Any) -> once[T]: ...
    @overload
    def __get__(self, design: object, owner: Any) -> T: ...
    def __get__(self, design: Any, owner: Any) -> Any:
        if design is None:
            return self
        one = design._one
        if self._name in design.__dict__:  # a closed form, found along with that
            return design.__dict__[self._name]
        if one is None:
            made: Any = self._compute(design)
        else:
            made = getattr(one, self._name)
            if not self._name.startswith("_"):
                made = np.broadcast_to(made, (*design.weights.shape[:-1], *np.shape(made)))
        design.__dict__[self._name] = made  # where Python looks first from now on
        return made
