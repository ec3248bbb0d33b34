"""Rigid-contact engine for robots that runs both ways: motion from torques, torques and contact forces from motion."""

from ._core import __version__

__all__ = ["__version__"]
