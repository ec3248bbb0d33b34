import importlib.util
import pathlib

import numpy as np
import pytest

import stiction

GRAVITY = 9.81


@pytest.fixture
def checkout():
    return pathlib.Path(__file__).parents[2]


@pytest.fixture(scope="session")
def headless():
    """stiction.browser; what needs it is left out, by name, where there is no Chromium."""
    pytest.importorskip("websockets", reason="a browser is driven by websockets, which viser brings")
    from stiction import browser

    try:
        browser.find_chromium()
    except browser.ViewError as missing:
        pytest.skip(str(missing))
    return browser


def point_on_incline(angle, speed=0.0, mu=0.3, dt=1e-3, mass=2.0):
    """A point mass on a plane inclined by `angle`: x up the slope, z its normal; contact rows z, x, y."""
    impulse = dt * mass * GRAVITY * np.array([-np.sin(angle), 0.0, -np.cos(angle)])
    J = np.array([[0.0, 0, 1], [1, 0, 0], [0, 1, 0]])
    return stiction.ContactProblem(mass * np.eye(3), [speed, 0, 0], J, mu, dt=dt, impulse=impulse)


@pytest.fixture
def incline():
    return point_on_incline


def base_on_legs(feet, dt=1e-3):
    """(M, J, impulse of the weight): a base of 4 kg on vertical legs of 0.1 kg, their feet at (x, y), 0.14 m below."""
    nv = 6 + len(feet)
    M, J, weight = np.zeros((nv, nv)), np.zeros((3 * len(feet), nv)), np.zeros(nv)
    M[:6, :6] = np.diag([4.0, 4.0, 4.0, 0.02, 0.03, 0.04])
    weight[2] = -4.0 * GRAVITY * dt
    for i, (x, y) in enumerate(feet):
        moved = np.zeros((3, nv))  # by v, of the foot at (x, y, -0.14)
        moved[:, :3] = np.eye(3)
        moved[:, 3:6] = -np.array([[0, 0.14, y], [-0.14, 0, -x], [-y, x, 0]])
        moved[2, 6 + i] = 1.0
        M += 0.1 * moved.T @ moved
        weight -= 0.1 * GRAVITY * dt * moved[2]
        J[3 * i : 3 * i + 3] = moved[[2, 0, 1]]
    return M, J, weight


@pytest.fixture
def on_legs():
    return base_on_legs


def random_problem(seed, nv=12, contacts=4, mu=0.5, dt=1e-3):
    """Random inertia and contact rows; the contacts are met at speed."""
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(nv, nv))
    J = rng.normal(size=(3 * contacts, nv))
    v = rng.normal(size=nv) - J[::3].sum(axis=0)
    impulse = rng.normal(size=nv)
    return A @ A.T + nv * np.eye(nv), v, J, np.full(contacts, mu), dt, impulse


@pytest.fixture
def random_arrays():
    return random_problem


@pytest.fixture
def example_robot():
    """The file of a robot of example-robot-data, by its path there."""

    def path_of(path):
        spec = importlib.util.find_spec("cmeel")
        if spec is None:
            pytest.skip("needs example-robot-data")
        folder = pathlib.Path(spec.origin).parents[1] / "cmeel.prefix" / "share" / "example-robot-data" / "robots"
        if not (folder / path).exists():
            pytest.skip("needs example-robot-data")
        return str(folder / path)

    return path_of
