"""Gymnasium environments: `import stiction.envs` registers them.

    env = gymnasium.make("stiction/Ant-v0")
    envs = gymnasium.make_vec("stiction/Ant-v0", num_envs=64)  # on threads, without the interpreter's lock

| id | robot | action |
| --- | --- | --- |
| stiction/HalfCheetah-v0, Ant-v0, Humanoid-v0 | gymnasium's MJCF files, seen and rewarded as in its v5 | torques |
| stiction/Quadruped-v0 | the quadruped that comes with stiction, told a velocity | joint positions |
| stiction/Biped-v0 | a biped that is pushed and stays up | joint positions |
| stiction/PushBox-v0 | a finger that pushes a box to a place on the table | forces |

Every environment takes dt=, law=, solver=, tolerance=, acceptable=, friction=, scheme= as `stiction.Stepper` does,
material= as `stiction.World`, and what its class says; render_mode= "rgb_array" (pictures of width= x height=
pixels) or "human" (a page). Needs gymnasium; a render_mode needs viser too, and pictures Chromium.
"""

try:
    import gymnasium
except ImportError as error:
    raise ImportError(
        "stiction.envs needs gymnasium, which is not installed here: pip install 'stiction[envs]'"
    ) from error

from .biped import Biped
from .env import Task, TaskEnv, TaskVectorEnv, column
from .gymnasium_robots import Ant, HalfCheetah, Humanoid
from .push_box import PushBox
from .quadruped import Quadruped

__all__ = [
    "Ant",
    "Biped",
    "HalfCheetah",
    "Humanoid",
    "PushBox",
    "Quadruped",
    "Task",
    "TaskEnv",
    "TaskVectorEnv",
    "column",
]

for _task, _steps in (
    (HalfCheetah, 1000),
    (Ant, 1000),
    (Humanoid, 1000),
    (Quadruped, 500),
    (Biped, 500),
    (PushBox, 200),
):
    gymnasium.register(
        id=f"stiction/{_task.__name__}-v0",
        entry_point="stiction.envs.env:TaskEnv",
        vector_entry_point="stiction.envs.env:TaskVectorEnv",
        max_episode_steps=_steps,
        kwargs={"task": _task},
    )
