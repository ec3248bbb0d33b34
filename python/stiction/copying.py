"""Copies and pickles of worlds, shapes, steppers, planners and problems.

A copy shares what is built of a world and reads no file; it can be added to by itself. A pickle of a world, a shape or
a terrain is what was said to make it, which an unpickled one says again, and so has the same bits. The files that
robots and meshes were read from are remembered by their whole paths and contents: where one has changed, or is not
there, that is a FileError which names it. A stepper, a batch or a planner pickles as its world and options and what it
remembers: it goes on with the same bits.
A problem is its numbers, and the blocks that its matrices are kept in, so that a solve of it has the same bits.
Classes made from these copy and pickle as Python's objects do: with their attributes, and without their own __init__.
A copy of a stepper or a planner of such a class reads the files of its world again.
"""

from __future__ import annotations

import collections.abc
import copy
import functools
import hashlib
import os
import typing

import numpy as np

from ._core import (
    Batch,
    ContactProblem,
    FileError,
    ReducedProblem,
    Shape,
    Stepper,
    Terrain,
    TrotPlanner,
    World,
    WorldProblem,
)
from .pinocchio_model import from_pinocchio, is_pinocchio, velocity_limits

SAYINGS = (
    *("add_robot", "add_body", "add_ground", "add_terrain"),
    *("exclude", "set_pair", "set_velocity"),
)
# Arguments of World.add_robot in their order.
ROBOT = (
    *("file", "name", "floating", "position", "orientation", "joints", "actuated", "package_dirs", "srdf"),
    *("self_collision", "filter_overlaps", "keyframe", "allow_impossible_inertia", "joint_settings", "coordinates"),
    *("cut", "convex_meshes"),
)
SHAPES = ("sphere", "box", "capsule", "cylinder", "plane", "mesh", "height_map")
PROBLEM = (
    *("M", "v", "J", "mu", "dt", "impulse", "gap", "restitution", "J_b", "b", "lo", "hi"),
    *("prescribed", "v_prescribed"),
)
SET_LATER = ("laws", "material", "ids", "row_ids", "row_kinds", "_row_compliance", "_blocks")
OURS = ("_said", "_start", "_world", "_world_said", "_made_of")  # attributes that are made again, not taken over
PLACES = ("positions", "normals", "tangents1", "tangents2", "bodies")  # of the contacts of a world's problem


class Saying(typing.NamedTuple):
    method: str | None  # None: the constructor
    args: tuple
    kwargs: dict
    read: tuple = ()  # (path, digest) of every file that was read


def class_of_ours(cls):
    """The one that a class is made from."""
    return next(base for base in cls.__mro__ if base.__module__ == World.__module__)


def made(cls, *args, **kwargs):
    """One of a class, by the constructor of ours: its own may take other arguments."""
    out = cls.__new__(cls)
    class_of_ours(cls).__init__(out, *args, **kwargs)
    return out


def attributes(self):
    return {name: value for name, value in self.__dict__.items() if name not in OURS}


def said_of(self):
    """Sayings in their order; the first makes it."""
    if "_said" not in self.__dict__:
        if "_start" not in self.__dict__:
            raise TypeError(f"{self!r}: expected one that was made from Python, not a part of another object")
        self._said = [Saying(None, (), self._start)]
    return self._said


def kept(value):
    """An argument that nobody else can change: arrays, and what is read as one, as copies."""
    if value is None or isinstance(value, str | bytes | int | float | os.PathLike | np.generic | Shape | Terrain):
        return value
    if isinstance(value, collections.abc.Mapping):
        return {name: kept(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return (list if isinstance(value, list) else tuple)(kept(item) for item in value)
    if hasattr(value, "__array__") or hasattr(value, "__len__"):
        return np.array(value)
    return copy.deepcopy(value)


def is_text(file):
    """Whether World.add_robot takes it for the text of a file, not for its name."""
    return os.fsdecode(file).removeprefix("\ufeff").startswith("<")


def whole(file):
    """The path of a file, wherever the process goes later."""
    return os.path.abspath(os.fsdecode(file))


def digests(files):
    """(path, digest) of files that are there."""
    out = []
    for file in map(whole, files):
        if os.path.isfile(file):
            with open(file, "rb") as opened:
                out.append((file, hashlib.file_digest(opened, "sha256").hexdigest()))
    return tuple(out)


def robot_saying(world, args, kwargs):
    kwargs = dict(zip(ROBOT, args, strict=False)) | kwargs
    if not is_text(kwargs["file"]):
        kwargs["file"] = whole(kwargs["file"])
    if kwargs.get("srdf"):
        kwargs["srdf"] = whole(kwargs["srdf"])
    kwargs["package_dirs"] = [whole(folder) for folder in kwargs.get("package_dirs", ())]
    return Saying("add_robot", (), kept(kwargs), digests(world._last_read()))


def scene_saying(world, path):
    """path: a file, or the name of a scene that comes with stiction."""
    return Saying("from_scene", (whole(path) if os.path.isfile(path) else path,), {}, digests(world._last_read()))


def mesh_saying(_, file, *args, **kwargs):
    file = whole(file)
    return Saying("mesh", (file, *kept(args)), kept(kwargs), digests([file]))


def remembered(cls, name):
    """A method of a world that is added to what was said of it once it has succeeded."""
    method = getattr(cls, name)

    @functools.wraps(method)
    def said(self, *args, **kwargs):
        out = method(self, *args, **kwargs)
        robot = name == "add_robot"
        said_of(self).append(robot_saying(self, args, kwargs) if robot else Saying(name, kept(args), kept(kwargs)))
        return out

    setattr(cls, name, said)


def remembered_maker(cls, name):
    """A static method that makes one."""
    method = getattr(cls, name)

    @functools.wraps(method)
    def made(*args, **kwargs):
        out = method(*args, **kwargs)
        if name == "from_scene":
            out._said = [scene_saying(out, *args, **kwargs)]
        elif name == "mesh":
            out._said = [mesh_saying(out, *args, **kwargs)]
        else:
            out._said = [Saying(name, kept(args), kept(kwargs))]
        return out

    setattr(cls, name, staticmethod(made))


def say_again(cls, said):
    for saying in said:  # before what has changed is refused for another reason, or taken
        then = dict(saying.read)
        for file, now in digests(then):
            require_same(cls, file, now == then[file])
    first, *rest = said
    maker = functools.partial(made, cls) if first.method is None else getattr(cls, first.method)
    out = maker(*first.args, **first.kwargs)
    for saying in rest:  # as it was said to ours: what another class makes of it has been said, too
        getattr(class_of_ours(cls), saying.method)(out, *saying.args, **saying.kwargs)
    for saying, again in zip(said, said_of(out), strict=True):  # files that are elsewhere, come or gone
        for k in range(max(len(saying.read), len(again.read))):
            then, now = (files[k] if k < len(files) else (None, None) for files in (saying.read, again.read))
            require_same(cls, now[0] or then[0], now[1] == then[1])
    return out


def require_same(cls, file, same):
    if not same:
        raise FileError(f"{file}: expected what the pickled {cls.__name__} was made of, got a file with other contents")


def reduced(self):
    return say_again, (type(self), list(said_of(self))), attributes(self) or None


def itself(self):
    """Nothing changes it."""
    return self


def itself_deeply(self, memo):
    """Nothing changes it."""
    return self


def copied(self):
    """The same world, to be added to by itself."""
    out = made(type(self))
    out._become(self)
    out._said = list(said_of(self))
    out.__dict__.update(attributes(self))
    return out


def copied_deeply(self, memo):
    """What is built of a world is shared all the same."""
    out = memo[id(self)] = copy.copy(self)
    out.__dict__.update(copy.deepcopy(attributes(self), memo))
    return out


def stepping_again(cls, world_said, options, memory):
    out = made(cls, say_again(World, world_said), **options)
    out._remember(memory)
    return out


def reduced_stepping(self):
    said = said_of(self._world)[: self._world_said]
    return stepping_again, (type(self), said, self._start, self._memory()), attributes(self) or None


def copied_batch(self):
    """Another batch that goes on as this one does."""
    out = made(type(self), self._made_of, **self._start)
    out._remember(self._memory())
    out._made_of, out._world, out._world_said = self._made_of, self._world, self._world_said
    out.__dict__.update(attributes(self))
    return out


def with_start(copied):
    """Stepper.copy or TrotPlanner.copy, with what pickles of the copy need."""

    @functools.wraps(copied)
    def said(self):
        ours = class_of_ours(type(self)) is type(self)
        out = copied(self) if ours else stepping_again(*reduced_stepping(self)[1])
        out.__dict__.update(self.__dict__ if ours else attributes(self))
        return out

    return said


def problem_of(numbers, later):
    problem = ContactProblem(**numbers)
    for name, value in later.items():
        if len(value):
            setattr(problem, name, value)
    return problem


def reduced_problem(self):
    numbers = {name: getattr(self, name) for name in PROBLEM}
    return problem_of, (numbers, {name: getattr(self, name) for name in SET_LATER})


def world_problem_of(numbers, later, places):
    return WorldProblem._of(problem_of(numbers, later), *places)


def reduced_world_problem(self):
    return world_problem_of, (*reduced_problem(self)[1], [getattr(self, name) for name in PLACES])


def taking_pinocchio(add_robot):
    """World.add_robot for a pinocchio.Model, or that and a pinocchio.GeometryModel, too."""

    @functools.wraps(add_robot)
    def said(self, file, *args, **kwargs):
        if is_pinocchio(file):
            kwargs, args = dict(zip(ROBOT[1:], args, strict=False)) | kwargs, ()
            parts = file if isinstance(file, tuple) else (file,)
            kwargs["joint_settings"] = velocity_limits(parts[0]) | kwargs.get("joint_settings", {})
            file = from_pinocchio(*parts)
        return add_robot(self, file, *args, **kwargs)

    return said


def with_own_names_only(cls):
    """Refuses to set what it has not: a misspelt setting would be kept and do nothing. Classes made from it may."""
    plain = cls.__setattr__

    def set_own(self, name, value):
        if type(self) is cls and not name.startswith("_") and not hasattr(cls, name):
            raise AttributeError(f"'{cls.__name__}' has no attribute '{name}' that could be set")
        plain(self, name, value)

    cls.__setattr__ = set_own


def remember():
    for cls in (World, Shape, Terrain, Stepper, Batch, TrotPlanner):
        with_own_names_only(cls)
    for name in SAYINGS:
        remembered(World, name)
    World.add_robot = taking_pinocchio(World.add_robot)
    remembered_maker(World, "from_scene")
    for name in SHAPES:
        remembered_maker(Shape, name)
    for cls in (World, Shape, Terrain):
        cls.__reduce__ = reduced
    World.__copy__ = World.copy = copied
    for cls in (Shape, Terrain):
        cls.__copy__, cls.__deepcopy__ = itself, itself_deeply
    for cls in (Stepper, TrotPlanner):
        cls.copy = cls.__copy__ = with_start(cls.copy)
    Stepper.__reduce__ = Batch.__reduce__ = TrotPlanner.__reduce__ = reduced_stepping
    Batch.copy = Batch.__copy__ = copied_batch
    for cls in (World, Stepper, Batch, TrotPlanner):
        cls.__deepcopy__ = copied_deeply
    ContactProblem.__reduce__ = reduced_problem
    WorldProblem.__reduce__ = reduced_world_problem
    ReducedProblem.__reduce__ = lambda self: (ReducedProblem, (self.W, self.q, self.mu))
