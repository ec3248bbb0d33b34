"""bench/compare --only accuracy --accuracy robots: every engine has the same robot, state and torques."""

import dataclasses
import pathlib
import sys

import numpy as np
import pytest

pytest.importorskip("pinocchio")
sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "bench"))

import robot_models
import robot_runs
import robot_scenes

NAMES = [kind.name for kind in robot_runs.ENGINES]


def kind_of(name, scene):
    kind = robot_runs.ENGINES[NAMES.index(name)]
    if reason := kind.missing() or kind.refuses(scene):
        pytest.skip(reason)
    return kind


def test_the_merged_quadruped_weighs_what_the_paper_says():
    assert robot_models.quadruped().mass * 9.81 == pytest.approx(47.0882, abs=1e-3)  # N, printed with 4 decimals


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("make", [robot_scenes.quadruped_stands, robot_scenes.anymal_stands])
def test_a_robot_falls_freely_as_one_body(name, make):
    # Without torques nothing but gravity acts: joints stay, and the root falls, level, by g t² / 2 to first order.
    scene = dataclasses.replace(make(), height=2.0)
    engine = kind_of(name, scene)(scene, 1e-3)
    for _ in range(50):
        engine.step(np.zeros(12))
    place, turn = engine.base()
    np.testing.assert_allclose(engine.joints()[0], scene.q, atol=1e-6)
    np.testing.assert_allclose(place, [0, 0, 2.0 - 0.5 * 9.81 * 0.05**2], atol=3e-4)
    np.testing.assert_allclose(np.abs(turn), [1, 0, 0, 0], atol=1e-5)


@pytest.mark.parametrize("name", NAMES)
def test_the_ground_bears_the_weight_of_who_stands(name):
    scene = dataclasses.replace(robot_scenes.quadruped_stands(), duration=1.2)
    motion = robot_runs.run(kind_of(name, scene), scene, 1e-3)
    assert motion.uneven() < 5e-3
    assert motion.depth() < 2e-3
    rigid = robot_runs.run(robot_runs.engines.Stiction, scene, 1e-3)
    if name != "MuJoCo":  # its feet creep by millimetres
        assert motion.away_from(rigid.joints) < 2e-3  # rad


@pytest.mark.parametrize("name", NAMES)
def test_computed_torques_follow_the_wanted_motion_to_first_order(name):
    scene = dataclasses.replace(robot_scenes.arm_under_computed_torque(), duration=1.0)
    kind = kind_of(name, scene)
    coarse, fine = (robot_runs.error(robot_runs.run(kind, scene, dt), scene, None) for dt in (2e-3, 1e-3))
    assert fine < 5e-4
    assert coarse / fine == pytest.approx(2.0, abs=0.1)
