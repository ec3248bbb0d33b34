"""Robots of robot_scenes.py: one URDF text for all engines, without limits, damping, or shapes other than the feet's.

Links behind fixed joints are one with their parents: some engines merge them, and some cannot carry those without mass.
"""

import dataclasses
import functools
import pathlib
from xml.etree import ElementTree

import numpy as np
from robots_folder import robots_folder
from scene_engines import GRAVITY

MODELS = pathlib.Path(__file__).resolve().parent.parent / "models"


@dataclasses.dataclass
class Robot:
    urdf: str
    root: str
    names: list  # of its joints, as stiction orders them
    floating: bool
    feet: dict  # link -> place of its foot in it (m)
    radius: float  # of the feet (m)
    mass: float  # kg

    def world(self, scene):
        import stiction

        world = stiction.World(friction=scene.friction, gravity=(0, 0, -GRAVITY))
        if self.floating:
            world.add_ground()
        world.add_robot(self.urdf, floating=self.floating, actuated=self.names, self_collision=False)
        return world

    def coordinates(self, q, height=0.0, place=(0, 0), turn=(1, 0, 0, 0)):
        """q of stiction for joints q, the root link at `place` and `height`, turned by w x y z."""
        w, *axis = turn
        return np.concatenate([[*place, height, *axis, w], q]) if self.floating else np.array(q)

    def rates(self, v):
        return np.concatenate([np.zeros(6 if self.floating else 0), v])

    def feet_at(self, world, base, turn, q):
        """(n, 3) centres of the feet."""
        full = self.coordinates(q, base[2], base[:2], turn)
        poses = [(world.pose(link, full), place) for link, place in self.feet.items()]
        return np.array([pose[:3, :3] @ place + pose[:3, 3] for pose, place in poses])


def numbers(values):
    return " ".join(repr(float(x)) for x in np.ravel(values))


@functools.cache
def load(file, feet=(), floating=True):
    """The robot of a URDF file; feet: links whose spheres collide."""
    import pinocchio as pin

    model = pin.buildModelFromUrdf(str(file), *([pin.JointModelFreeFlyer()] if floating else []))
    axes = {
        joint.get("name"): joint.find("axis").get("xyz")
        for joint in ElementTree.parse(file).getroot().findall("joint")
        if joint.get("type") in ("revolute", "continuous")
    }
    first = 2 if floating else 1
    names = list(model.names)[first:]
    links = {first - 1: "root_link"} | {k: f"link_{model.names[k]}" for k in range(first, model.njoints)}
    places, radius = {}, 0.0
    for foot in feet:
        collision = ElementTree.parse(file).getroot().find(f"link[@name='{foot}']/collision")
        radius = float(collision.find("geometry/sphere").get("radius"))
        frame = model.frames[model.getFrameId(foot)]
        offset = np.array(collision.find("origin").get("xyz").split(), float)
        places[links[frame.parentJoint]] = frame.placement.act(offset)
    parts = []
    for k, link in links.items():
        body = model.inertias[k]
        mass = float(body.mass) or 1.0  # of a root that is held
        i = (body.inertia if body.mass else np.eye(3)).tolist()
        ball = (
            f'<collision><origin xyz="{numbers(places[link])}"/><geometry><sphere radius="{radius}"/></geometry>'
            "</collision>"
            if link in places
            else ""
        )
        parts.append(
            f'<link name="{link}"><inertial><origin xyz="{numbers(body.lever)}"/><mass value="{mass!r}"/>'
            f'<inertia ixx="{i[0][0]!r}" ixy="{i[0][1]!r}" ixz="{i[0][2]!r}" iyy="{i[1][1]!r}" iyz="{i[1][2]!r}" '
            f'izz="{i[2][2]!r}"/></inertial>{ball}</link>'
        )
        if k >= first:
            place = model.jointPlacements[k]
            parts.append(
                f'<joint name="{model.names[k]}" type="revolute"><parent link="{links[model.parents[k]]}"/>'
                f'<child link="{link}"/><origin xyz="{numbers(place.translation)}" '
                f'rpy="{numbers(pin.rpy.matrixToRpy(place.rotation))}"/><axis xyz="{axes[model.names[k]]}"/>'
                '<limit effort="1e6" lower="-10" upper="10" velocity="1e6"/></joint>'
            )
    text = f'<robot name="{pathlib.Path(file).stem}">{"".join(parts)}</robot>'
    moving = sum(model.inertias[k].mass for k in links if floating or k >= first)
    return Robot(text, "root_link", names, floating, places, radius, moving)


LEGS = ("LF", "RF", "LH", "RH")


def quadruped():
    """The paper's, of 4.8 kg."""
    return load(MODELS / "links.urdf", tuple(f"{leg}_foot" for leg in LEGS))


def anymal():
    file = robots_folder() / "anymal_b_simple_description/robots/anymal.urdf"
    return load(file, tuple(f"{leg}_FOOT" for leg in LEGS))


def ur10():
    return load(MODELS / "ur10.urdf", floating=False)
