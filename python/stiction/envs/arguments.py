"""What a task's arguments must be, asked when it is made: its numbers enter states and rewards unasked later."""

from __future__ import annotations

import math
import numbers

import numpy as np


def number(name: str, value: object, least: float = -math.inf, above: float = -math.inf) -> float:
    """A finite number that is at least or above a bound."""
    if is_number(value) and math.isfinite(value) and value >= least and value > above:
        return float(value)
    bound = f" >= {least:g}" if least > -math.inf else f" > {above:g}" if above > -math.inf else ""
    raise ValueError(f"{name}: expected a finite number{bound}, got {value!r}")


def interval(name: str, value: object, infinite: bool = False) -> tuple[float, float]:
    """Two numbers, the least and the most."""
    try:
        least, most = value
    except (TypeError, ValueError):
        least = most = None
    numeric = is_number(least) and is_number(most)
    if numeric and least <= most and (infinite or (math.isfinite(least) and math.isfinite(most))):
        return float(least), float(most)
    raise ValueError(f"{name}: expected two {'' if infinite else 'finite '}numbers, least <= most, got {value!r}")


def flag(name: str, value: object) -> bool:
    if isinstance(value, bool | np.bool_):
        return bool(value)
    raise ValueError(f"{name}: expected True or False, got {value!r}")


def is_number(value: object) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, bool)
