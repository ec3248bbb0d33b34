"""Engines that step a scene of scene_shapes.py: bodies, start, planes, friction, step and gravity alike.

An engine has `missing()` and `refuses(scene)`: why it, or a scene in it, cannot be run, if so; `step()`, which advances
by scene.dt and returns its own report, if it has any; `poses()`: centres of mass (n, 3) and quaternions (n, 4; w x y
z); `velocities()`: linear in world axes (n, 3) and angular in body axes (n, 3).
"""

from .base import GRAVITY
from .bullet import Bullet
from .dart import Dart
from .drake import Drake, DrakeTamsi
from .mujoco import MuJoCo, MuJoCoElliptic, mjcf
from .ode import Ode
from .ours import Stiction, StictionTodorov

# Times are measured against the first.
ENGINES = (MuJoCo, Stiction, MuJoCoElliptic, StictionTodorov, Bullet, Ode, Dart, Drake, DrakeTamsi)
__all__ = [
    "ENGINES",
    "GRAVITY",
    "Bullet",
    "Dart",
    "Drake",
    "DrakeTamsi",
    "MuJoCo",
    "MuJoCoElliptic",
    "Ode",
    "Stiction",
    "StictionTodorov",
    "mjcf",
]
