"""Copies and pickles of worlds, shapes, steppers and problems.

A world, a shape and a terrain are remembered as what was said to make them: a copy or an unpickled one says it again,
and so has the same bits and can be added to. The files that robots and meshes were read from must be where they were.
A stepper or a batch is its world and options, said again, and what it remembers: it goes on with the same bits.
A problem is its numbers, and the blocks that its matrices are kept in, so that a solve of it has the same bits.
"""

from __future__ import annotations

import copy
import functools

from ._core import Batch, ContactProblem, ReducedProblem, Shape, Stepper, Terrain, World, WorldProblem
from .pinocchio_model import from_pinocchio, is_pinocchio, velocity_limits

SAYINGS = (
    *("add_robot", "add_body", "add_ground", "add_terrain"),
    *("exclude", "set_pair", "set_velocity"),
)
SHAPES = ("sphere", "box", "capsule", "cylinder", "plane", "mesh", "height_map")
PROBLEM = (
    *("M", "v", "J", "mu", "dt", "impulse", "gap", "restitution", "J_b", "b", "lo", "hi"),
    *("prescribed", "v_prescribed"),
)
SET_LATER = ("laws", "material", "ids", "row_ids", "row_kinds", "_row_compliance", "_blocks")
PLACES = ("positions", "normals", "tangents1", "tangents2", "bodies")  # of the contacts of a world's problem


def said_of(self):
    """(method or None, args, kwargs) in their order; the first makes it."""
    if "_said" not in self.__dict__:
        if "_start" not in self.__dict__:
            raise TypeError(f"{self!r}: expected one that was made from Python, not a part of another object")
        self._said = [(None, (), self._start)]
    return self._said


def remembered(cls, name):
    """A method of a world that is added to what was said of it once it has succeeded."""
    method = getattr(cls, name)

    @functools.wraps(method)
    def said(self, *args, **kwargs):
        out = method(self, *args, **kwargs)
        said_of(self).append((name, *copy.deepcopy((args, kwargs))))
        return out

    setattr(cls, name, said)


def remembered_maker(cls, name):
    """A static method that makes one."""
    method = getattr(cls, name)

    @functools.wraps(method)
    def made(*args, **kwargs):
        out = method(*args, **kwargs)
        out._said = [(name, *copy.deepcopy((args, kwargs)))]
        return out

    setattr(cls, name, staticmethod(made))


def say_again(cls, said):
    name, args, kwargs = said[0]
    out = cls(*args, **kwargs) if name is None else getattr(cls, name)(*args, **kwargs)
    for name, args, kwargs in said[1:]:
        getattr(out, name)(*args, **kwargs)
    return out


def reduced(self):
    return say_again, (type(self), list(said_of(self)))


def copied(self):
    """Another one of which the same was said, to be changed by itself."""
    return say_again(type(self), said_of(self))


def stepping_again(cls, world_said, options, memory):
    out = cls(say_again(World, world_said), **options)
    out._remember(memory)
    return out


def reduced_stepping(self):
    return stepping_again, (type(self), said_of(self._world)[: self._world_said], self._start, self._memory())


def copied_batch(self):
    """Another batch that goes on as this one does."""
    function, arguments = reduced_stepping(self)
    return function(*arguments)


def copied_stepper(copied):
    """Stepper.copy, with what pickles of the copy need."""

    @functools.wraps(copied)
    def said(self):
        out = copied(self)
        out.__dict__.update(self.__dict__)
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
    for cls in (World, Shape, Terrain, Stepper, Batch):
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
    World.__deepcopy__ = lambda self, memo: copied(self)
    for cls in (Shape, Terrain):  # nothing changes them
        cls.__copy__ = lambda self: self
        cls.__deepcopy__ = lambda self, memo: self
    Stepper.copy = Stepper.__copy__ = copied_stepper(Stepper.copy)
    Stepper.__deepcopy__ = lambda self, memo: self.copy()
    Stepper.__reduce__ = Batch.__reduce__ = reduced_stepping
    Batch.copy = Batch.__copy__ = copied_batch
    Batch.__deepcopy__ = lambda self, memo: self.copy()
    ContactProblem.__reduce__ = reduced_problem
    WorldProblem.__reduce__ = reduced_world_problem
    ReducedProblem.__reduce__ = lambda self: (ReducedProblem, (self.W, self.q, self.mu))
