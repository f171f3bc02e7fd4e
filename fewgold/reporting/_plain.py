"""Numbers and tables that JSON knows."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pandas as pd


def plain_value(value: Any) -> Any:
    """Numbers of numpy as Python's own; what is not finite becomes None."""
    if isinstance(value, Mapping):
        return {str(k): plain_value(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [plain_value(v) for v in value]
    if isinstance(value, np.ndarray | np.generic):
        return plain_value(value.tolist())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, str | int) else str(value)


def plain_frame(frame: pd.DataFrame | None) -> list[dict[str, Any]] | None:
    """The rows of a frame, a mapping each."""
    if frame is None:
        return None
    return [plain_value(row) for row in frame.to_dict("records")]
