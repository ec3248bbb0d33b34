"""What says whether a function is the one that an earlier sweep ran.

That is its compiled code with constants and names, what is written in it included, its defaults, what it has closed
over, and of a partial or a bound method what it is called with. Modules and classes count by name, other objects by
what their pickle says. What a function finds among globals when it is called does not count.
"""

from __future__ import annotations

import functools
import hashlib
import sys
import types

import numpy as np

PLAIN = (type(None), type(...), type(NotImplemented), bool, int, float, complex, str, bytes)


def called(function) -> str:
    """The name of a function for people."""
    while isinstance(function, functools.partial):
        function = function.func
    return getattr(function, "__qualname__", type(function).__qualname__)


def digest(function) -> str:
    """Raises ValueError that names what cannot be told again by another process."""
    return hashlib.sha256(repr(Telling().told(function, called(function))).encode()).hexdigest()[:12]


class Telling:
    """Objects as nested tuples of texts that are the same in every process."""

    def __init__(self) -> None:
        self.seen: dict[int, int] = {}
        self.alive: list = []  # what is seen, so that nothing else gets its address

    def told(self, value, where: str):
        if type(value) in PLAIN:
            return type(value).__name__, repr(value)
        if id(value) in self.seen:  # it holds itself, or is held twice
            return "again", self.seen[id(value)]
        self.seen[id(value)] = len(self.seen)
        self.alive.append(value)
        return type(value).__qualname__, *self.parts(value, where)

    def parts(self, value, where: str):
        if isinstance(value, types.FunctionType):
            names, cells = value.__code__.co_freevars, value.__closure__ or ()
            yield self.told(value.__code__, where)
            yield self.told(value.__defaults__, f"{where}: defaults")
            yield self.told(value.__kwdefaults__, f"{where}: defaults")
            for name, cell in zip(names, cells, strict=True):
                yield name, self.told_cell(cell, f"{where}: {name}")
        elif isinstance(value, types.CodeType):
            yield value.co_code.hex(), value.co_exceptiontable.hex(), value.co_flags, value.co_argcount
            yield value.co_posonlyargcount, value.co_kwonlyargcount
            yield value.co_names, value.co_varnames, value.co_freevars, value.co_cellvars
            yield [self.told(constant, where) for constant in value.co_consts]
        elif isinstance(value, functools.partial):
            yield self.told(value.func, where)
            yield self.told(value.args, f"{where}: arguments")
            yield self.told(value.keywords, f"{where}: arguments")
        elif isinstance(value, types.MethodType):
            yield self.told(value.__func__, where)
            yield self.told(value.__self__, f"{where}: self")
        elif isinstance(value, types.ModuleType):
            yield value.__name__
        elif isinstance(value, type) or is_builtin(value):
            yield self.name_of(value, where)
        elif type(value) in (list, tuple):
            yield [self.told(item, f"{where}[{k}]") for k, item in enumerate(value)]
        elif type(value) in (set, frozenset):  # in the order of their texts: that of a set differs between processes
            yield sorted((Telling().told(item, where) for item in value), key=repr)
        elif type(value) is dict:
            yield [(self.told(key, where), self.told(item, f"{where}[{key!r}]")) for key, item in value.items()]
        elif isinstance(value, np.ndarray) and not value.dtype.hasobject:
            yield value.dtype.str, value.shape, hashlib.sha256(value.tobytes()).hexdigest()
        else:
            yield self.told_pickled(value, where)

    def told_cell(self, cell, where: str):
        try:
            return self.told(cell.cell_contents, where)
        except ValueError:
            if not hasattr(cell, "cell_contents"):  # a name that nothing was bound to
                return "empty"
            raise

    def told_pickled(self, value, where: str):
        try:
            said = value.__reduce_ex__(4)
        except Exception:
            raise refused(value, where) from None
        if isinstance(said, str):
            return said
        return [self.told(list(part) if hasattr(part, "__next__") else part, where) for part in said]

    def name_of(self, value, where: str) -> str:
        """Of what another process finds by its name."""
        found = sys.modules.get(value.__module__)
        for name in value.__qualname__.split("."):
            found = getattr(found, name, None)
        if found is not value:
            raise refused(value, where)
        return f"{value.__module__}.{value.__qualname__}"


def is_builtin(value) -> bool:
    return isinstance(value, types.BuiltinFunctionType) and isinstance(value.__self__, types.ModuleType | None)


def refused(value, where: str) -> ValueError:
    return ValueError(
        f"experiment: {where}: expected what says whether kept points are of the same function (numbers, texts, "
        f"arrays, functions, what pickles), got {value!r}"
    )
