"""Rigid-contact engine for robots that runs both ways: motion from torques, torques and contact forces from motion."""

import importlib

from ._core import (
    LAWS,
    SCHEMES,
    SOLVERS,
    Batch,
    Certificate,
    CompareRow,
    Comparison,
    ContactProblem,
    Contacts,
    DrawnShape,
    FileError,
    Forward,
    Indeterminacy,
    InfeasibilityRay,
    Joint,
    JointController,
    ReducedProblem,
    RequestProof,
    Residual,
    Rollout,
    Shape,
    Simulation,
    Solution,
    State,
    Stepper,
    StepReport,
    Terrain,
    TrotPlan,
    TrotPlanner,
    Workspace,
    World,
    WorldProblem,
    __version__,
    can_solve,
    certifies_infeasibility,
    compare,
    indeterminacy,
    inverse,
    load_problem,
    proves_infeasible,
    rollout,
    scenes,
    simulate,
    solve,
)
from .copying import remember
from .pinocchio_model import from_pinocchio
from .sweep import sweep
from .trajectory import Trajectory

remember()


def __getattr__(name: str) -> object:
    """envs and view, which need other packages, once they are asked for."""
    if name not in ("envs", "view"):
        raise AttributeError(f"module 'stiction' has no attribute '{name}'")
    try:
        return importlib.import_module(f"stiction.{name}")
    except ImportError as error:
        raise AttributeError(str(error)) from error


__all__ = [
    "LAWS",
    "SCHEMES",
    "SOLVERS",
    "Batch",
    "Certificate",
    "CompareRow",
    "Comparison",
    "ContactProblem",
    "Contacts",
    "DrawnShape",
    "FileError",
    "Forward",
    "Indeterminacy",
    "InfeasibilityRay",
    "Joint",
    "JointController",
    "ReducedProblem",
    "RequestProof",
    "Residual",
    "Rollout",
    "Shape",
    "Simulation",
    "Solution",
    "State",
    "StepReport",
    "Stepper",
    "Terrain",
    "Trajectory",
    "TrotPlan",
    "TrotPlanner",
    "Workspace",
    "World",
    "WorldProblem",
    "__version__",
    "can_solve",
    "certifies_infeasibility",
    "compare",
    "from_pinocchio",
    "indeterminacy",
    "inverse",
    "load_problem",
    "proves_infeasible",
    "rollout",
    "scenes",
    "simulate",
    "solve",
    "sweep",
]
