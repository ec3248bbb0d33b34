"""MuJoCo, and scenes as its XML."""

import numpy as np
from scene_shapes import inertia

from .base import GRAVITY, Engine, plane_quaternion


def mjcf(scene, cone):
    geoms = {
        "sphere": lambda s: f'type="sphere" size="{s.size[0]}"',
        "box": lambda s: f'type="box" size="{" ".join(str(0.5 * x) for x in s.size)}"',
        "capsule": lambda s: f'type="capsule" size="{s.size[0]} {0.5 * s.size[1]}"',
    }
    numbers = lambda values: " ".join(repr(float(x)) for x in np.ravel(values))  # noqa: E731
    assets, bodies = [], []
    for point, normal in scene.planes:
        bodies.append(
            f'<geom type="plane" size="0 0 1" pos="{numbers(point)}" quat="{numbers(plane_quaternion(normal))}" '
            f'friction="{scene.friction_of(scene.plane_friction, "max")} 0 0"/>'
        )
    for k, body in enumerate(scene.bodies):
        if body.shape.kind == "mesh":
            corners = " ".join(map(str, np.ravel(body.shape.faces)))
            assets.append(f'<mesh name="m{k}" vertex="{numbers(body.shape.vertices)}" face="{corners}"/>')
            geom = f'type="mesh" mesh="m{k}"'
        else:
            geom = geoms[body.shape.kind](body.shape)
        moments = inertia(body.shape, body.mass)[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]
        bodies.append(
            f'<body pos="{numbers(body.position)}" quat="{numbers(body.quaternion)}"><freejoint/><geom {geom} '
            f'friction="{scene.friction_of(body.friction, "max")} 0 0"/>'
            f'<inertial pos="0 0 0" mass="{body.mass}" '
            f'fullinertia="{numbers(moments)}"/></body>'
        )
    return (
        '<mujoco><compiler inertiafromgeom="false"/><size memory="1G"/>'
        f'<option timestep="{scene.dt}" gravity="0 0 {-GRAVITY}" cone="{cone}"/>'
        f'<default><geom friction="{scene.friction} 0 0" condim="3"/></default>'
        f"<asset>{''.join(assets)}</asset><worldbody>{''.join(bodies)}</worldbody></mujoco>"
    )


class MuJoCo(Engine):
    """Defaults: pyramidal friction, soft contacts."""

    name, module, cone = "MuJoCo", "mujoco", "pyramidal"
    differs = "friction pyramid of four edges; soft contacts (solref 0.02 1, solimp 0.9 0.95 0.001)"
    bounces = False

    def __init__(self, scene):
        import mujoco

        self.step_once = mujoco.mj_step
        self.model = mujoco.MjModel.from_xml_string(self.xml(scene))
        self.data = mujoco.MjData(self.model)
        self.data.qvel.reshape(-1, 6)[:, :3] = [body.velocity for body in scene.bodies]
        if scene.push is not None:
            self.data.xfrc_applied[1, :3] = scene.push

    def xml(self, scene):
        return mjcf(scene, self.cone)

    def step(self):
        self.step_once(self.model, self.data)

    def poses(self):
        q = self.data.qpos.reshape(-1, 7)
        return q[:, :3].copy(), q[:, 3:].copy()

    def velocities(self):
        v = self.data.qvel.reshape(-1, 6)
        return v[:, :3].copy(), v[:, 3:].copy()


class MuJoCoElliptic(MuJoCo):
    name, cone = "MuJoCo elliptic", "elliptic"
    differs = "friction cone; soft contacts as above"
