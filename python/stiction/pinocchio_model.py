"""A pinocchio.Model as the text of an MJCF: `World.add_robot(model)` or `add_robot((model, collision_model))`.

The bindings of two packages share no C++ types, so the model goes over as a file would: tree, placements, inertias,
limits, armature, damping, dry friction, gravity, and frames of bodies by name. Coordinates are Pinocchio's, but for
continuous joints, which have one angle here in place of cosine and sine. Joints: free-flyer (at the world's origin),
revolute, prismatic, spherical; others are a ValueError that names them, and so are joints that are not numbered branch
by branch, and armature or damping that differs between the axes of one joint. Efforts of a spherical joint are left out
with a warning; of dry friction that is not the same both ways the larger is taken, with another. A root link called
world, which on a free-flyer moves, has the name of its joint with _body behind.
Shapes of a collision model: box, sphere, capsule, cylinder, and meshes by their file; which pairs collide is what
stiction decides for an MJCF (collisionPairs are not read), less those that `srdf` disables.
"""

from __future__ import annotations

import typing
import xml.etree.ElementTree as ElementTree

import numpy as np

NO_LIMIT = 1e10  # m, rad, N or N m: as good as none
AXES = {"X": (1.0, 0.0, 0.0), "Y": (0.0, 1.0, 0.0), "Z": (0.0, 0.0, 1.0)}


class PinocchioModel(typing.Protocol):
    """What is read of a pinocchio.Model, whose package is not needed for the types."""

    name: typing.Any
    njoints: typing.Any
    parents: typing.Any
    joints: typing.Any
    jointPlacements: typing.Any  # noqa: N815
    inertias: typing.Any
    frames: typing.Any
    gravity: typing.Any


class PinocchioGeometry(typing.Protocol):
    """What is read of a pinocchio.GeometryModel."""

    geometryObjects: typing.Any  # noqa: N815


def is_pinocchio(value):
    """A Model, or a Model and a GeometryModel: told without importing Pinocchio."""
    first = value[0] if isinstance(value, tuple) and value else value
    return hasattr(first, "jointPlacements") and hasattr(first, "inertias")


def from_pinocchio(model: PinocchioModel, collision_model: PinocchioGeometry | None = None) -> str:
    """The text of an MJCF that says what a pinocchio.Model (and a pinocchio.GeometryModel) says. Raises ValueError."""
    check_order(model)
    root = ElementTree.Element("mujoco", model=model.name or "robot")
    ElementTree.SubElement(root, "compiler", angle="radian", autolimits="false")
    ElementTree.SubElement(root, "option", gravity=text(model.gravity.linear))
    assets = ElementTree.SubElement(root, "asset")
    world = ElementTree.SubElement(root, "worldbody")
    motors = ElementTree.SubElement(root, "actuator")
    bodies = {0: world}
    for i in range(1, model.njoints):
        bodies[i] = add_body(bodies[model.parents[i]], model, i)
        add_joint(bodies[i], motors, model, i)
    for frame in model.frames[1:]:
        if frame.type.name == "BODY" and frame.name not in {"world", *(body.get("name") for body in bodies.values())}:
            add_frame(bodies[frame.parentJoint], frame)
    for geometry in collision_model.geometryObjects if collision_model is not None else ():
        add_geometry(bodies[geometry.parentJoint], assets, geometry)
    return ElementTree.tostring(root, encoding="unicode")


def check_order(model):
    """Raises ValueError where bodies, read branch by branch, would number the joints otherwise than the model does."""
    children = [[] for _ in range(model.njoints)]
    for i in range(1, model.njoints):
        children[model.parents[i]].append(i)
    order, left = [], children[0][::-1]
    while left:
        order.append(left.pop())
        left += children[order[-1]][::-1]
    if order != sorted(order):
        got, wanted = (", ".join(model.names[i] for i in numbers) for numbers in (sorted(order), order))
        raise ValueError(f"model: expected joints added branch by branch ({wanted}), got {got}")


def velocity_limits(model):
    """{joint: {"velocity_limit": rad/s or m/s}}, of which an MJCF has no word."""
    out = {}
    for i in range(1, model.njoints):
        joint = model.joints[i]
        if joint.nv == 1 and 0.0 < model.velocityLimit[joint.idx_v] < np.inf:
            out[model.names[i]] = {"velocity_limit": float(model.velocityLimit[joint.idx_v])}
    return out


def add_body(parent, model, i):
    # The body has the name of the link that lies at its joint; a joint without one names it. `world` is not to move.
    own = (
        f.name
        for f in model.frames
        if f.type.name == "BODY" and f.parentJoint == i and f.placement.isIdentity() and f.name != "world"
    )
    body = ElementTree.SubElement(
        parent, "body", name=next(own, model.names[i] + "_body"), **place(model.jointPlacements[i])
    )
    inertia = model.inertias[i]
    if inertia.mass > 0.0:
        I = inertia.inertia  # noqa: E741
        six = (I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2])
        ElementTree.SubElement(
            body, "inertial", pos=text(inertia.lever), mass=text(inertia.mass), fullinertia=text(six)
        )
    return body


def add_joint(body, motors, model, i):
    joint, name = model.joints[i], model.names[i]
    kind, axis = kind_of(joint, name)
    # Of a free-flyer q would be measured from there, ours is from the world.
    if kind == "free" and not model.jointPlacements[i].isIdentity():
        where = text(model.jointPlacements[i].translation)
        raise ValueError(f"joint '{name}': expected a free-flyer without a placement, got one at {where} m")
    v = joint.idx_v
    least, most = dry_friction(model, slice(v, v + joint.nv))
    values = {"name": name, "type": kind, "frictionloss": text(max(-least, most))}
    if least != -most:
        values["frictionlossrange"] = text((least, most))  # which the reader leaves out, with a warning
    for word in ("armature", "damping"):
        axes = getattr(model, word)[v : v + joint.nv]
        if np.ptp(axes) > 0.0:
            raise ValueError(f"joint '{name}': expected one {word} for all its axes, got {text(axes)}")
        values[word] = text(axes[0])
    if kind in ("hinge", "slide"):
        values["axis"] = text(axis)
        low, high = model.lowerPositionLimit[joint.idx_q], model.upperPositionLimit[joint.idx_q]
        if joint.nq == 1 and (low > -NO_LIMIT or high < NO_LIMIT):
            values |= {"limited": "true", "range": text(np.clip((low, high), -NO_LIMIT, NO_LIMIT))}
        least, most = effort_limits(model, v)
        if most > 0.0:
            motor = ElementTree.SubElement(motors, "motor", joint=name, gear="1")
            if least > -NO_LIMIT or most < NO_LIMIT:
                limits = np.clip((least, most), -NO_LIMIT, NO_LIMIT)
                motor.attrib |= {"ctrllimited": "true", "ctrlrange": text(limits)}
    elif kind == "ball" and np.max(model.upperEffortLimit[v : v + joint.nv]) > 0.0:
        ElementTree.SubElement(motors, "motor", joint=name)  # which the reader leaves out, with a warning
    ElementTree.SubElement(body, "joint", **values)


def dry_friction(model, axes):
    """Least and largest of a joint; the same both ways where a model has no least one, or one that is not below 0."""
    most = np.max(model.upperDryFrictionLimit[axes])
    least = np.min(getattr(model, "lowerDryFrictionLimit", -model.upperDryFrictionLimit)[axes])
    return (least if least < 0.0 else -most), most


def effort_limits(model, v):
    """Least and largest effort of a coordinate; the same both ways where a model has no least one, or one above 0."""
    most = model.upperEffortLimit[v]
    least = getattr(model, "lowerEffortLimit", -model.upperEffortLimit)[v]
    return (least if least < 0.0 else -most), most


def kind_of(joint, name):
    """Type of the MJCF's joint, and its axis."""
    word = joint.shortname().removeprefix("JointModel")
    if word == "FreeFlyer":
        return "free", None
    if word == "Spherical":
        return "ball", None
    if word in ("RevoluteUnaligned", "RevoluteUnboundedUnaligned"):
        return "hinge", joint.extract().axis if hasattr(joint, "extract") else joint.axis
    if word == "PrismaticUnaligned":
        return "slide", joint.extract().axis if hasattr(joint, "extract") else joint.axis
    if word[-1] in AXES and word[:-1] in ("R", "RUB", "P"):
        return "slide" if word[0] == "P" else "hinge", AXES[word[-1]]
    raise ValueError(f"joint '{name}': expected a free-flyer, revolute, prismatic or spherical joint, got {word}")


def add_frame(body, frame):
    ElementTree.SubElement(body, "body", name=frame.name, **place(frame.placement))


def add_geometry(body, assets, geometry):
    shape, kind = geometry.geometry, type(geometry.geometry).__name__
    values = {"name": geometry.name, **place(geometry.placement)}
    if geometry.meshPath and kind not in ("Box", "Sphere", "Capsule", "Cylinder"):
        ElementTree.SubElement(
            assets, "mesh", name=geometry.name, file=geometry.meshPath, scale=text(geometry.meshScale)
        )
        values |= {"type": "mesh", "mesh": geometry.name}
    elif kind == "Box":
        values |= {"type": "box", "size": text(shape.halfSide)}
    elif kind == "Sphere":
        values |= {"type": "sphere", "size": text(shape.radius)}
    elif kind in ("Capsule", "Cylinder"):
        values |= {"type": kind.lower(), "size": text((shape.radius, shape.halfLength))}
    else:
        raise ValueError(
            f"geometry '{geometry.name}': expected box, sphere, capsule, cylinder or a mesh file, got {kind}"
        )
    ElementTree.SubElement(body, "geom", **values)


def place(placement):
    """pos and quat (w first) of an SE3."""
    import pinocchio

    x, y, z, w = pinocchio.Quaternion(placement.rotation).coeffs()
    return {"pos": text(placement.translation), "quat": text((w, x, y, z))}


def text(numbers):
    """Digits enough to be read back as they were."""
    return " ".join(repr(float(number)) for number in np.ravel(numbers))
