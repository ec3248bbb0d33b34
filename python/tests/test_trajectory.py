"""Trajectories: what they hold, to and from files to the bit, and replayed."""

import dataclasses
import itertools
import json
import pathlib
import subprocess
import sys

import numpy as np
import pytest

import stiction
from stiction import mcap_log
from stiction.trajectory import CONTACT_MODES, of_simulation

mcap_reader = pytest.importorskip("mcap.reader", reason="logs need the package mcap")

MASS, GRAVITY, DT, MU = 2.0, 9.81, 0.01, 0.3


def sliding_box(speed=1.0):
    world = stiction.World(friction=MU)
    world.add_ground()
    world.add_body("box", stiction.Shape.box((0.2, 0.2, 0.1)), mass=MASS, position=(0, 0, 0.05))
    world.add_body("hill", stiction.Shape.height_map([[0.1, 0.2], [0.1, 0.3]], 1.0, 1.0, 0.0), position=(9, 0, 0))
    world.add_body("pill", stiction.Shape.capsule(0.05, 0.2), mass=1, position=(-2, 1, 1))
    world.set_velocity("box", (speed, 0, 0))
    return world


@pytest.fixture(scope="module")
def run():
    return stiction.simulate(sliding_box(), duration=0.4, dt=DT)


@pytest.fixture(scope="module")
def trajectory(run):
    return of_simulation(run)


def same(one, other):
    ours, theirs = one.arrays(), other.arrays()
    assert list(ours) == list(theirs)
    for key, array in ours.items():
        np.testing.assert_array_equal(array, theirs[key], err_msg=key)
        assert array.dtype.kind == theirs[key].dtype.kind, key


def test_it_holds_the_run(run, trajectory):
    for field in dataclasses.fields(stiction.Trajectory):
        if hasattr(run, field.name):
            np.testing.assert_array_equal(getattr(trajectory, field.name), getattr(run, field.name), err_msg=field.name)
    assert trajectory.q_names[:3] == ["box.x", "box.y", "box.z"]
    assert trajectory.seconds.shape == (len(run.time), 6)
    assert (trajectory.seconds[1:].sum(axis=1) > 0).all()


def test_modes_and_impulses_are_those_of_coulomb(trajectory):
    """It slides for t = v / (mu g), then sticks; all along the normal impulses of its four corners bear it."""
    stop = 1.0 / (MU * GRAVITY)
    for i in range(1, len(trajectory.time)):
        at = trajectory.contacts(i)
        at = slice(at.start, at.start + 4)
        modes = {CONTACT_MODES[m] for m in trajectory.contact_modes[at]}
        if trajectory.time[i] < stop - DT:
            assert modes == {"slip"}, i
        elif trajectory.time[i] < 0.4:
            assert "slip" not in modes or trajectory.time[i] < stop + DT, i
        impulses = np.einsum("cij,cj->ci", trajectory.contact_frames[at], trajectory.contact_impulses[at])
        np.testing.assert_allclose(impulses, DT * trajectory.contact_forces[at], atol=1e-15)
        np.testing.assert_allclose(impulses.sum(axis=0)[2], MASS * GRAVITY * DT, rtol=1e-9)


@pytest.mark.parametrize("suffix", [".npz", ".mcap"])
def test_files_give_back_every_bit(trajectory, tmp_path, suffix):
    file = tmp_path / f"run{suffix}"
    trajectory.save(file)
    same(stiction.Trajectory.load(file), trajectory)


def test_a_run_without_contacts_coordinates_or_bodies_survives_too(tmp_path):
    ground = stiction.World()
    ground.add_ground()
    for world, suffix in itertools.product((stiction.World(), ground), (".npz", ".mcap")):
        trajectory = of_simulation(stiction.simulate(world, duration=0.002))
        trajectory.save(tmp_path / f"none{suffix}")
        same(stiction.Trajectory.load(tmp_path / f"none{suffix}"), trajectory)


def test_the_parts_of_the_certificate_are_those_of_the_steps(trajectory):
    """Of every step, its residual is the worst of them; a stepper says the same of the same steps."""
    np.testing.assert_array_equal(trajectory.certificate.max(axis=1), trajectory.residual)
    stepper = stiction.Stepper(sliding_box(), dt=DT)
    for row, residual, worst in zip(trajectory.certificate, trajectory.residual, trajectory.worst_parts(), strict=True):
        if residual > 0.0:
            report = stepper.step()
            assert report.certificate == dict(zip(trajectory.certificate_names, row, strict=True))
            assert report.certificate[worst] == report.residual == residual
        else:
            assert worst == ""
    assert {"momentum", "cone", "dissipation", "normal_complementarity"} <= set(trajectory.certificate_names)


@pytest.mark.parametrize("suffix", [".npz", ".mcap"])
def test_files_of_version_3_are_read_without_a_certificate(trajectory, tmp_path, suffix, monkeypatch):
    from stiction import mcap_log
    from stiction import trajectory as module

    unsaid = {"status": "", "law": "", "scheme": "", "dt": None, "tolerance": None, "gravity": None}
    without = dataclasses.replace(
        trajectory, certificate_names=[], certificate=np.empty((len(trajectory.time), 0)), **unsaid
    )
    file = tmp_path / f"run{suffix}"
    with monkeypatch.context() as then:
        then.setattr(module, "VERSION", 3.0)
        if suffix == ".mcap":
            then.setattr(mcap_log, "STEP_KEYS", tuple(key for key in mcap_log.STEP_KEYS if key != "certificate"))
            without.save(file)
        else:
            arrays = without.arrays()
            np.savez_compressed(file, **{key: arrays[key] for key in arrays if not key.startswith("certificate")})
    read = stiction.Trajectory.load(file)
    same(read, without)
    assert read.worst_parts() == [""] * len(read.time)
    with monkeypatch.context() as then:
        then.setattr(module, "VERSION", 7.0)
        trajectory.save(file)
    with pytest.raises(stiction.FileError, match=f"run{suffix}: version: this program reads versions 3 to 6"):
        stiction.Trajectory.load(file)


OUT_OF_REACH = """[simulation]
dt = 0.01
duration = 2.0
gravity = [0, 0, -1.62]
tolerance = 1e-8
law = "coulomb_cone"
scheme = "moreau_midpoint"
[[body]]
name = "box"
shape = "box"
size = [0.2, 0.2, 0.2]
mass = 1.0
position = [0, 0, 0.5]
velocity = [9e8, 0, 0]
"""


@pytest.mark.parametrize("suffix", [".npz", ".mcap"])
def test_a_record_tells_how_its_run_ended_and_what_it_was_stepped_with(tmp_path, suffix):
    """Positions end at 1e9 m, which 9e8 m/s pass after 1.11 s."""
    scene, file = tmp_path / "away.toml", tmp_path / "away.npz"
    scene.write_text(OUT_OF_REACH)
    command = pathlib.Path(sys.executable).with_name("stiction")
    done = subprocess.run([command, "simulate", scene, "--record", file, "--quiet"], check=False)
    assert done.returncode == 1
    run = stiction.simulate(scene)
    assert (run.status, run.refused) == ("numerical_error", "reach")
    for trajectory in (stiction.Trajectory.load(file), of_simulation(run)):
        trajectory.save(tmp_path / f"other{suffix}")
        for read in (trajectory, stiction.Trajectory.load(tmp_path / f"other{suffix}")):
            assert (read.status, read.refused) == ("numerical_error", "reach")
            assert (read.law, read.scheme) == ("coulomb_cone", "moreau_midpoint")
            assert (read.dt, read.tolerance) == (0.01, 1e-8)
            assert read.gravity.tolist() == [0.0, 0.0, -1.62]
            assert read.early_end() == "1.11 s: numerical_error (reach)"
            assert read == trajectory
    short = of_simulation(stiction.simulate(scene, duration=0.02))
    assert (short.status, short.refused, short.early_end()) == ("solved", "", "")


@pytest.mark.parametrize("suffix", [".npz", ".mcap"])
def test_of_a_file_that_does_not_tell_how_the_run_ended_that_is_unknown(trajectory, tmp_path, suffix, monkeypatch):
    from stiction import trajectory as module

    with monkeypatch.context() as then:
        then.setattr(module, "VERSION", 5.0)
        trajectory.save(tmp_path / f"old{suffix}")
    old = stiction.Trajectory.load(tmp_path / f"old{suffix}")
    assert (old.status, old.refused, old.law, old.scheme, old.early_end()) == ("", "", "", "", "")
    assert (old.dt, old.tolerance, old.gravity) == (None, None, None)
    old.save(tmp_path / f"new{suffix}")
    assert stiction.Trajectory.load(tmp_path / f"new{suffix}") == old


def test_the_log_is_what_other_readers_expect(trajectory, tmp_path):
    file = tmp_path / "run.mcap"
    trajectory.save(file)
    seen = {}
    with open(file, "rb") as stream:
        reader = mcap_reader.make_reader(stream, validate_crcs=True)
        for schema, channel, message in reader.iter_messages():
            assert (schema.encoding, channel.message_encoding) == ("jsonschema", "json")
            known = json.loads(schema.data)["properties"] if schema.name != "stiction.Model" else None
            content = json.loads(message.data)
            assert known is None or set(content) == set(known)
            seen.setdefault((channel.topic, schema.name), []).append((message.log_time, content))
        assert reader.get_summary().statistics.message_count == sum(len(messages) for messages in seen.values())
    states = len(trajectory.time)
    assert {key: len(messages) for key, messages in seen.items()} == {
        ("/model", "stiction.Model"): 1,
        ("/tf", "foxglove.FrameTransforms"): states,
        ("/scene", "foxglove.SceneUpdate"): states + 1,
        ("/state", "stiction.State"): states,
        ("/step", "stiction.Step"): states,
        ("/contacts", "stiction.Contacts"): states,
    }
    times = [time for time, _ in seen["/tf", "foxglove.FrameTransforms"]]
    assert times == [round(1e9 * t) for t in trajectory.time]
    box = seen["/tf", "foxglove.FrameTransforms"][-1][1]["transforms"][trajectory.body_names.index("box")]
    assert (box["parent_frame_id"], box["child_frame_id"]) == ("world", "box")
    assert list(box["translation"].values()) == trajectory.q[-1, :3].tolist()


def test_whatever_bit_of_a_log_is_damaged_no_other_numbers_are_read(tmp_path):
    whole, damaged = tmp_path / "run.mcap", tmp_path / "damaged.mcap"
    few = of_simulation(stiction.simulate(sliding_box(), duration=20 * DT, dt=DT))
    few.save(whole)
    content, random = whole.read_bytes(), np.random.default_rng(0)
    refused = 0
    for at in range(0, len(content), len(content) // 400):
        flipped = bytearray(content)
        flipped[at] ^= 1 << int(random.integers(8))
        damaged.write_bytes(flipped)
        try:
            same(stiction.Trajectory.load(damaged), few)
        except stiction.FileError:
            refused += 1
    assert refused > 200


def test_the_version_of_a_log_is_under_a_checksum(trajectory, tmp_path):
    """It stands between the chunks, which have checksums of their own; one bit makes of 6.0 the older 4.0."""
    file = tmp_path / "run.mcap"
    trajectory.save(file)
    content = file.read_bytes()
    assert content.count(b"version\x03\0\0\x006.0") == 1
    file.write_bytes(content.replace(b"version\x03\0\0\x006.0", b"version\x03\0\0\x004.0"))
    with pytest.raises(stiction.FileError, match=r"run\.mcap: damaged: crc validation failed in DataEnd"):
        stiction.Trajectory.load(file)


def test_equal_are_runs_of_the_same_numbers(trajectory, tmp_path):
    trajectory.save(tmp_path / "run.npz")
    again = stiction.Trajectory.load(tmp_path / "run.npz")
    assert trajectory == again
    assert trajectory.shapes == again.shapes
    v = again.v.copy()
    v[-1, 0] = np.nextafter(v[-1, 0], 1.0)
    assert trajectory != dataclasses.replace(again, v=v)
    assert trajectory != dataclasses.replace(again, v_names=["other", *again.v_names[1:]])
    assert trajectory != dataclasses.replace(again, shapes=again.shapes[1:])
    assert trajectory != again.arrays()


CART = """<robot name="cart"><link name="base"><inertial><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
<collision><geometry><box size=".1 .1 .1"/></geometry></collision></link></robot>"""


def messages_of(file, topic):
    with open(file, "rb") as stream:
        return [json.loads(m.data) for _, _, m in mcap_reader.make_reader(stream).iter_messages(topics=topic)]


def test_two_robots_of_a_file_are_frames_apart(tmp_path):
    """What a viewer does: a shape hangs in the frame of its name, where the transform of that name puts it."""
    world = stiction.World()
    for k, name in enumerate(("one", "two")):
        world.add_robot(CART, name=name, floating=True, position=(k, 0, 2))
    world.add_body("base", stiction.Shape.sphere(0.1), mass=1.0, position=(2, 0, 2))
    run = of_simulation(stiction.simulate(world, 0.01, dt=0.01))
    assert run.body_names == ["one/base", "two/base", "base"]
    assert len(set(run.q_names)) == world.nq
    run.save(tmp_path / "run.mcap")
    frames = {t["child_frame_id"]: t for t in messages_of(tmp_path / "run.mcap", "/tf")[-1]["transforms"]}
    shapes = messages_of(tmp_path / "run.mcap", "/scene")[0]["entities"]
    assert [frames[shape["frame_id"]]["translation"]["x"] for shape in shapes] == [0.0, 1.0, 2.0]
    assert stiction.Trajectory.load(tmp_path / "run.mcap") == run


def test_a_body_that_is_called_as_the_frame_of_all_has_a_frame_of_its_own(tmp_path):
    world = stiction.World()
    for k, name in enumerate(("world", "world_")):
        world.add_body(name, stiction.Shape.sphere(0.1), mass=1.0, position=(k, 0, 2))
    run = of_simulation(stiction.simulate(world, 0.01, dt=0.01))
    run.save(tmp_path / "run.mcap")
    transforms = messages_of(tmp_path / "run.mcap", "/tf")[0]["transforms"]
    assert {t["parent_frame_id"] for t in transforms} == {"world"}
    children = [t["child_frame_id"] for t in transforms]
    assert len({"world", *children}) == 3
    assert [shape["frame_id"] for shape in messages_of(tmp_path / "run.mcap", "/scene")[0]["entities"]] == children
    assert stiction.Trajectory.load(tmp_path / "run.mcap").body_names == ["world", "world_"]


@pytest.mark.parametrize("edge", [0.001, 0.1, 50.0])
def test_arrows_of_the_log_are_as_large_as_those_of_the_viewer(edge, tmp_path):
    """The weight is an arrow of 1, 2 or 5 times a power of ten metres per newton, about as long as what moves."""
    world = stiction.World()
    world.add_ground()
    world.add_body("box", stiction.Shape.box((edge,) * 3), density=500.0, position=(0, 0, 0.5 * edge))
    run = of_simulation(stiction.simulate(world, 0.02, dt=0.01))
    run.save(tmp_path / "run.mcap")
    first, *others = messages_of(tmp_path / "run.mcap", "/scene")
    arrows = others[-1]["entities"][0]["arrows"]
    length = sum(arrow["shaft_length"] + arrow["head_length"] for arrow in arrows)
    assert 0.4 * edge < length <= (1 + 1e-6) * edge
    scale = length / (GRAVITY * run.body_mass.sum())
    assert min(abs(scale / 10.0 ** np.floor(np.log10(scale) + 1e-6) - digit) for digit in (1, 2, 5)) < 1e-4
    for arrow in arrows:
        assert arrow["shaft_diameter"] == pytest.approx(2 * 0.7 * 0.006 * edge, rel=1e-9)
        assert arrow["head_diameter"] == pytest.approx(2 * 1.8 * 0.006 * edge, rel=1e-9)
    (ground,) = (cube for shape in first["entities"] if shape["frame_id"] == "ground" for cube in shape["cubes"])
    assert 16 * edge < ground["size"]["x"] <= 40 * edge * (1 + 1e-6)


def test_the_arrow_of_an_impact_is_cut_as_in_the_viewer(tmp_path):
    world = stiction.World()
    world.add_ground()
    world.add_body("box", stiction.Shape.box((0.1,) * 3), mass=1.0, position=(0, 0, 0.05), velocity=(0, 0, -5))
    run = of_simulation(stiction.simulate(world, 0.001, dt=0.001))
    assert np.linalg.norm(run.contact_forces, axis=1).max() > 100 * GRAVITY
    run.save(tmp_path / "run.mcap")
    arrows = messages_of(tmp_path / "run.mcap", "/scene")[-1]["entities"][0]["arrows"]
    for arrow in arrows:
        assert arrow["shaft_length"] + arrow["head_length"] == pytest.approx(4 * GRAVITY * 0.01, rel=1e-12)
        assert arrow["color"] not in (mcap_log.GREEN, mcap_log.ORANGE)


def test_arrows_of_the_log_point_along_the_forces(trajectory, tmp_path):
    file = tmp_path / "run.mcap"
    trajectory.save(file)
    updates = messages_of(file, "/scene")
    at = trajectory.contacts(5)
    (entity,) = updates[1 + 5]["entities"]
    arrows = entity["arrows"]
    assert len(arrows) == at.stop - at.start
    for arrow, force, point in zip(arrows, trajectory.contact_forces[at], trajectory.contact_points[at], strict=True):
        x, y, z, w = arrow["pose"]["orientation"].values()
        along = np.array([1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)])
        np.testing.assert_allclose(along, force / np.linalg.norm(force), atol=1e-12)
        per_newton = 0.05  # m: 2.3 m from pill to box over their weight of 29.4 N, rounded down to 1, 2 or 5
        np.testing.assert_allclose(
            arrow["shaft_length"] + arrow["head_length"], per_newton * np.linalg.norm(force), rtol=1e-12
        )
        assert list(arrow["pose"]["position"].values()) == point.tolist()


def test_arrows_of_any_direction_are_turned_in_one_go():
    from stiction.mcap_log import _along

    directions = np.array([[-1, 0, 0], [1, 0, 0], [0, 0, 1], [-0.6, 0.0, 0.8]])
    x, y, z, w = _along(directions).T
    found = np.stack([1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)], axis=1)
    np.testing.assert_allclose(found, directions, atol=1e-15)


def test_a_replay_is_the_run_bit_for_bit(run, trajectory):
    assert trajectory.replay(stiction.Stepper(sliding_box(), dt=DT)) is None
    changed = dataclasses.replace(trajectory, tau=trajectory.tau.copy())
    changed.tau[7, 0] += 1e-9
    assert changed.replay(stiction.Stepper(sliding_box(), dt=DT)) == 7
    assert trajectory.replay(stiction.Stepper(sliding_box(), dt=DT, friction=0.2)) == 1


def test_a_controlled_robot_is_replayed_with_its_cut_torques(tmp_path):
    world = stiction.World.from_scene("quadruped")
    random = np.random.default_rng(1)
    run = stiction.simulate(
        world,
        duration=0.1,
        controller=lambda t, q, v: random.normal(0, 40, len(world.actuated)) - 0.1 * v[world.actuated],
    )
    assert run.saturated.sum() > 0
    assert (np.abs(run.tau_desired) >= np.abs(run.tau)).all()
    assert ((run.tau_desired != run.tau).sum(axis=1) == run.saturated).all()
    run.save(tmp_path / "run.npz")
    assert stiction.Trajectory.load(tmp_path / "run.npz").replay(stiction.Stepper(world)) is None


def test_the_command_converts(trajectory, tmp_path):
    trajectory.save(tmp_path / "run.npz")
    command = [sys.executable, "-m", "stiction.convert"]
    subprocess.run([*command, tmp_path / "run.npz", tmp_path / "run.mcap"], check=True)
    same(stiction.Trajectory.load(tmp_path / "run.mcap"), trajectory)
    said = subprocess.run([*command, tmp_path / "run.npz", tmp_path / "run.csv"], capture_output=True, text=True)
    assert said.returncode == 2
    assert "expected a name that ends in .npz, .mcap or .rrd" in said.stderr


def test_bad_files_are_named(run, trajectory, tmp_path):
    log = tmp_path / "run.mcap"
    trajectory.save(log)
    whole = log.read_bytes()
    some = {
        "cut": whole[: len(whole) // 2],
        "beginning": whole[:2],
        "empty": b"",
        "text": b"no log",
        "long": b"no log" * 99,
    }
    for name, content in some.items():
        file = tmp_path / f"{name}.mcap"
        file.write_bytes(content)
        with pytest.raises(stiction.FileError, match=f"{name}.mcap: .*: cut short, or no MCAP file at all"):
            stiction.Trajectory.load(file)
    (tmp_path / "text.npz").write_text("no archive")
    with pytest.raises(stiction.FileError, match="no zip archive"):
        stiction.Trajectory.load(tmp_path / "text.npz")
    (tmp_path / "run.rrd").write_bytes(b"RRF2")
    with pytest.raises(stiction.FileError, match=r"run\.rrd: expected \.npz or \.mcap: .* not read again"):
        stiction.Trajectory.load(tmp_path / "run.rrd")
    with pytest.raises(stiction.FileError, match="no such file"):
        stiction.Trajectory.load(tmp_path / "nothing.mcap")
    with pytest.raises(stiction.FileError, match="cannot be written"):
        trajectory.save(tmp_path / "no folder" / "run.mcap")
    with pytest.raises(ValueError, match=r"path: expected a name that ends in \.npz, got '.*run\.mcap'"):
        run.save(tmp_path / "run.mcap")
    arrays = trajectory.arrays()
    arrays["contact_modes"][0] = 3
    np.savez(tmp_path / "mode.npz", **arrays)
    with pytest.raises(stiction.FileError, match="contact_modes: expected indices"):
        stiction.Trajectory.load(tmp_path / "mode.npz")


@pytest.mark.parametrize("suffix", [".npz", ".mcap"])
@pytest.mark.parametrize(("factor", "came"), [(0.0, "0.0"), (0.5, f"{0.5 * DT}")])
def test_time_that_stands_still_or_runs_backwards_is_named(trajectory, tmp_path, suffix, factor, came):
    time = trajectory.time.copy()
    time[:3] = 0.0, DT, factor * DT
    time[1] *= factor > 0.0
    path = tmp_path / f"run{suffix}"
    dataclasses.replace(trajectory, time=time).save(path)
    index = 2 if factor > 0.0 else 1
    named = rf"time\[{index}\]: expected a time after time\[{index - 1}\] = {time[index - 1]}, got {came}"
    with pytest.raises(stiction.FileError, match=named):
        stiction.Trajectory.load(path)


def test_friction_may_be_infinite_and_survives_both_formats(tmp_path):
    world = stiction.World(friction=np.inf)
    world.add_ground()
    world.add_body("box", stiction.Shape.box((0.2, 0.2, 0.1)), mass=MASS, position=(0, 0, 0.05))
    trajectory = of_simulation(stiction.simulate(world, duration=0.03, dt=DT))
    assert np.isposinf(trajectory.contact_mu).all()
    assert len(trajectory.contact_mu)
    for suffix in (".npz", ".mcap"):
        trajectory.save(tmp_path / f"run{suffix}")
        same(stiction.Trajectory.load(tmp_path / f"run{suffix}"), trajectory)


def test_friction_and_centre_of_mass_are_those_of_the_world(trajectory):
    np.testing.assert_array_equal(trajectory.contact_mu, MU)
    world = sliding_box()
    for state in (0, -1):
        np.testing.assert_allclose(
            trajectory.center_of_mass[state], world.center_of_mass(trajectory.q[state]), atol=1e-14
        )


@pytest.mark.parametrize("suffix", [".npz", ".mcap"])
def test_a_trot_says_where_its_feet_were_to_be_and_what_was_predicted(tmp_path, suffix):
    """Feet, the ends of the shanks, are found again in the poses; forces borne in the contacts of the ground."""
    file = tmp_path / "trot.npz"
    command = [
        pathlib.Path(sys.executable).with_name("stiction"),
        *[
            "experiment",
            "trot",
            "--ground",
            "rigid",
            "--controller",
            "id-qp-mu",
            "--objective",
            "anitescu",
            "--mu",
            "0.1",
            "--starts",
            "1",
            "--duration",
            "0.6",
            "--quiet",
        ],
        *("--json", tmp_path / "rows.json", "--record", file),
    ]
    subprocess.run(command, check=True, capture_output=True)
    trot = stiction.Trajectory.load(file)
    trot.save(tmp_path / f"again{suffix}")
    same(stiction.Trajectory.load(tmp_path / f"again{suffix}"), trot)
    assert trot.target_names == ["LF_foot", "RF_foot", "LH_foot", "RH_foot"]
    for k, foot in enumerate(trot.target_names):
        shank = trot.body_names.index(foot.replace("foot", "shank"))
        poses = trot.body_poses[:-1, shank]  # before the step that led to the next state
        offset = np.array([0.1 if foot[1] == "F" else -0.1, 0.0, 0.0])
        u, w = poses[:, 3:6], poses[:, 6:]
        cross = 2.0 * np.cross(u, offset)
        np.testing.assert_allclose(
            trot.reached[1:, k], poses[:, :3] + offset + w * cross + np.cross(u, cross), atol=1e-9
        )
        borne = trot.signals[:, trot.signal_names.index(f"force simulated {foot} (N)")]
        on_foot = (trot.contact_bodies == shank).any(axis=1)
        normal = np.where(on_foot, np.einsum("ci,ci->c", trot.contact_forces, trot.contact_frames[:, :, 0]), 0.0)
        sums = np.diff(np.append(0.0, np.cumsum(normal))[trot.contact_offsets])
        np.testing.assert_allclose(borne, sums, atol=1e-9)
    assert np.abs(trot.targets - trot.reached).max() < 0.05
    predicted = trot.signals[:, [name.startswith("force predicted") for name in trot.signal_names]].sum(axis=1)
    assert np.median(predicted[1:]) == pytest.approx(47.0882, rel=0.2)  # its weight
