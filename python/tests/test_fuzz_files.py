"""Damaged files of every format: read, or refused by FileError or ValueError with a message; nothing else.

Run as a program it goes on for longer: test_fuzz_files.py SECONDS SEED
"""

import io
import json
import pathlib
import random
import sys
import time

import numpy as np
import pytest

import stiction
from stiction.trajectory import Trajectory

MODELS = pathlib.Path(__file__).parents[2] / "models"
MJCF = b"""<mujoco model="cart"><compiler angle="radian"/><default><geom friction="0.8 0.005 0.0001"/></default>
<worldbody><geom type="plane" size="1 1 0.1"/><body name="cart" pos="0 0 1"><freejoint/>
<geom name="box" type="box" size="0.1 0.2 0.3" mass="2"/><body name="arm" pos="0 0 0.3">
<joint name="elbow" type="hinge" axis="0 1 0" range="-1 1" damping="0.1"/>
<geom type="capsule" fromto="0 0 0 0 0 0.4" size="0.05"/>
</body></body></worldbody>
<actuator><motor joint="elbow" ctrlrange="-5 5" gear="2"/></actuator>
<contact><exclude body1="cart" body2="arm"/></contact></mujoco>"""
LOCAL = b"3 2\n0\n6 6\n" + b"\n".join(b" ".join(b"%g" % (2 if i == j else 0.1) for j in range(6)) for i in range(6))
LOCAL += b"\n-1 0.3 0 -1 0 0.2\n0.5 0.7\n"
# What a damaged digit turns into, in text: the ends of the number line, and sizes that no memory holds.
NASTY = (
    b"nan",
    b"inf",
    b"-1",
    b"1e308",
    b"1e-320",
    b"0",
    b"99999999999",
    b"4294967296",
    b"-0",
    b"1e9",
    b"",
    b"\xff\xfe",
    b"&#0;",
    b"]]>",
)


def read_robot(file):
    world = stiction.World()
    world.add_robot(str(file))
    return world.joint_names, world.body_names, world.warnings, repr(world.joints), repr(world.shapes)


def read_scene(file):
    world = stiction.World.from_scene(str(file))
    return world.joint_names, world.body_names, repr(world)


def problem_bytes(save):
    world = stiction.World()
    world.add_ground()
    world.add_body("box", stiction.Shape.box((1, 1, 1)), mass=1, position=(0, 0, 0.5))
    return save(world.problem())


def saved(suffix, folder):
    file = folder / f"whole{suffix}"
    problem_bytes(lambda problem: problem.save(str(file)))
    return file.read_bytes()


def recorded(folder):
    world = stiction.World()
    world.add_ground()
    world.add_body("box", stiction.Shape.box((1, 1, 1)), mass=1, position=(0, 0, 0.5))
    stiction.simulate(world, duration=0.002).save(folder / "run.npz")
    return (folder / "run.npz").read_bytes()


def stored(content):
    """The same archive without compression, so that a damaged byte is a damaged number and not a broken stream."""
    out = io.BytesIO()
    with np.load(io.BytesIO(content)) as arrays:
        np.savez(out, **arrays)
    return out.getvalue()


def sources(folder):
    """(file name, content, reader) of a whole file of each format."""
    out = [(file.name, file.read_bytes(), read_scene) for file in sorted((MODELS / "scenes").glob("*.toml"))]
    out += [
        ("links.urdf", (MODELS / "links.urdf").read_bytes(), read_robot),
        ("cart.xml", MJCF, read_robot),
        ("box.json", saved(".json", folder), stiction.load_problem),
        ("box.npz", saved(".npz", folder), stiction.load_problem),
        ("stored.npz", stored(saved(".npz", folder)), stiction.load_problem),
        ("local.dat", LOCAL, stiction.load_problem),
        ("run.npz", recorded(folder), Trajectory.load),
        ("stored_run.npz", stored(recorded(folder)), Trajectory.load),
    ]
    return out


def damage(content, rng):
    """One to four changes: a byte, a number, a piece left out, doubled or put elsewhere, or the end cut off."""
    data = bytearray(content)
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(data) + 1)
        length = min(rng.choice((1, 2, 8, 64, 500)), len(data) - at)
        kind = rng.randrange(7)
        if kind == 0 and at < len(data):
            data[at] = rng.randrange(256)
        elif kind == 1:
            digits = [i for i in range(at, min(at + 200, len(data))) if chr(data[i]).isdigit()]
            if digits:
                end = digits[0]
                while end < len(data) and chr(data[end]) in "0123456789.eE+-":
                    end += 1
                data[digits[0] : end] = rng.choice(NASTY)
        elif kind == 2:
            del data[at : at + length]
        elif kind == 3:
            data[at:at] = data[at : at + length] * rng.choice((1, 1, 2, 50))
        elif kind == 4:
            data[at:at] = rng.choice(NASTY)
        elif kind == 5:
            data[at:at] = bytes(rng.randrange(256) for _ in range(length))
        elif rng.random() < 0.2:
            del data[at:]
    return bytes(data)


def check(name, content, read, folder):
    """Whether the file is read; raises what is neither FileError nor ValueError."""
    file = folder / f"damaged_{name}"
    file.write_bytes(content)
    try:
        read(file)
    except UnicodeError:  # a ValueError too, and never about the file
        raise
    except (stiction.FileError, ValueError) as error:
        if isinstance(error, stiction.FileError) and "damaged_" not in str(error):
            raise AssertionError(f"names no file: {error}") from error
        return False
    return True


def test_damaged_files_are_read_or_refused(tmp_path):
    rng = random.Random(1)
    count = {True: 0, False: 0}
    for name, content, read in sources(tmp_path):
        assert check(name, content, read, tmp_path), name
        for _ in range(60):
            damaged = damage(content, rng)
            try:
                count[check(name, damaged, read, tmp_path)] += 1
            except Exception as error:
                raise AssertionError(f"{name}: {type(error).__name__}: {error}") from error
    assert count[True] > 50  # else the damage is so great that only the first line of a reader is met
    assert count[False] > 300


def test_deep_nesting_is_refused_without_a_stack_overflow(tmp_path):
    depth = 100_000
    nested = {
        "deep.json": b'{"format":' + b"[" * depth + b"]" * depth + b"}",
        "deep.toml": b"[simulation]\ndt = " + b"[" * depth + b"]" * depth,
        "deep.urdf": b"<robot name='r'>" + b"<link>" * depth + b"</link>" * depth + b"</robot>",
        "deep.xml": b"<mujoco><worldbody>" + b"<body>" * depth + b"</body>" * depth + b"</worldbody></mujoco>",
        "tables.toml": b"[" + b"a." * depth + b"a]\nb = 1",
    }
    readers = {".json": stiction.load_problem, ".toml": read_scene, ".urdf": read_robot, ".xml": read_robot}
    for name, content in nested.items():
        file = tmp_path / name
        file.write_bytes(content)
        with pytest.raises((stiction.FileError, ValueError)):
            readers[file.suffix](file)


def test_a_chain_of_3000_links_is_read_or_refused(tmp_path):
    count = 3000
    inertial = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
    links = "".join(f'<link name="l{i}">{inertial}</link>' for i in range(count))
    joints = "".join(
        f'<joint name="j{i}" type="{"fixed" if i % 300 else "continuous"}"><parent link="l{i}"/>'
        f'<child link="l{i + 1}"/><origin xyz="0 0 -0.1"/><axis xyz="0 1 0"/></joint>'
        for i in range(count - 1)
    )
    file = tmp_path / "chain.urdf"
    file.write_text(f'<robot name="chain">{links}{joints}</robot>')
    world = stiction.World()
    world.add_robot(str(file))
    assert world.nv == 10


@pytest.mark.parametrize("size", ["100000 100000", "99999999999 3", "4294967296 1", "2147483647 2147483647"])
def test_sizes_that_no_memory_holds_are_refused(tmp_path, size):
    rows, columns = size.split()
    text = tmp_path / "huge.dat"
    text.write_text(f"3 {rows}\n0\n{columns} {columns}\n1 2 3\n")
    with pytest.raises(stiction.FileError, match=r"huge\.dat"):
        stiction.load_problem(text)
    problem = json.loads(problem_json(tmp_path))
    problem["blocks"] = [int(rows)]
    file = tmp_path / "huge.json"
    file.write_text(json.dumps(problem))
    with pytest.raises((stiction.FileError, ValueError), match=r"huge\.json"):
        stiction.load_problem(file)


def problem_json(folder):
    return saved(".json", folder)


def main(seconds, seed):
    folder = pathlib.Path("fuzz_files")
    folder.mkdir(exist_ok=True)
    rng, found, end, done = random.Random(seed), {}, time.monotonic() + seconds, 0
    everything = sources(folder)
    while time.monotonic() < end:
        name, content, read = rng.choice(everything)
        damaged, start = damage(content, rng), time.monotonic()
        (folder / f"last_{name}").write_bytes(damaged)
        done += 1
        try:
            check(name, damaged, read, folder)
        except Exception as error:
            found.setdefault(f"{name}: {type(error).__name__}: {str(error)[:100]}", []).append(damaged)
        if time.monotonic() - start > 1.0:
            found.setdefault(f"{name}: slower than 1 s", []).append(damaged)
    print(f"{done} files, {sum(map(len, found.values()))} complaints")
    for number, (what, files) in enumerate(sorted(found.items())):
        (folder / f"found_{number}_{what.split(':')[0]}").write_bytes(files[0])
        print(f"{len(files):5} {what}")


if __name__ == "__main__":
    main(float(sys.argv[1]), int(sys.argv[2]))
