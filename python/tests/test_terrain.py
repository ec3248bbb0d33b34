from pathlib import Path

import numpy as np
import pytest

import stiction


def test_the_same_seed_makes_the_same_ground():
    first, again, other = (
        stiction.Terrain("rough", seed=s, size=(1, 0.5), cell=0.1, friction=(0.1, 1.5)) for s in (4, 4, 5)
    )
    points = [(0.31, 0.12), (-0.44, -0.2), (0.0, 0.0)]
    assert [first.height_at(*p) for p in points] == [again.height_at(*p) for p in points]
    assert [first.height_at(*p) for p in points] != [other.height_at(*p) for p in points]
    assert first.patches.shape == (4, 2)
    assert np.all((first.patches >= 0.1) & (first.patches <= 1.5))
    assert first.height_at(0.6, 0.0) is None
    assert stiction.Terrain("flat", friction=0.4).patches is None


def test_patches_are_rounded_to_what_divides_the_sides():
    assert stiction.Terrain("flat", size=(2, 1), friction=(0.1, 2), patch=0.3).patches.shape == (7, 3)
    assert "nearest length that divides the side" in " ".join(stiction.Terrain.__doc__.split())


def test_a_contact_has_the_friction_of_its_patch():
    ground = stiction.Terrain("stairs", seed=2, size=2, rise=0.1, run=0.5, friction=(0.2, 0.8))
    for x, y in ((-0.8, 0.3), (0.1, -0.6), (0.9, 0.9)):
        world = stiction.World(friction=2.0)
        world.add_terrain(ground, position=(0.0, 0.0, 1.0))
        z = 1.0 + ground.height_at(x, y)
        world.add_body("ball", stiction.Shape.sphere(0.02), mass=1.0, position=(x, y, z + 0.02))
        (mu,) = world.problem().mu
        assert mu == ground.patches[int((x + 1.0) / 0.25), int((y + 1.0) / 0.25)]


def test_what_a_kind_does_not_read_is_refused():
    with pytest.raises(ValueError, match="rise"):
        stiction.Terrain("hills", rise=0.1)
    with pytest.raises(ValueError, match="swamp"):
        stiction.Terrain("swamp")
    with pytest.raises(ValueError, match="friction"):
        stiction.Terrain("flat", friction=(0.5, 0.1))


def test_ground_that_faces_apart_is_refused_with_its_file_and_edge(tmp_path: Path) -> None:
    path = tmp_path / "floor.obj"
    path.write_text("v -1 -1 0\nv 1 -1 0\nv 1 1 0\nv -1 1 0\nf 1 2 3\nf 1 4 3\n")
    shape = stiction.Shape.mesh(str(path), convex=False)
    world = stiction.World()
    world.add_body("floor", shape)
    with pytest.raises(ValueError, match=r"floor.*floor\.obj.*face to one side.*triangles 0 and 1.*\(1, 1, 0\)"):
        stiction.Stepper(world, dt=1e-3)
    moving = stiction.World()
    moving.add_body("sheet", shape, mass=1.0, com=(0.0, 0.0, 0.0), inertia=np.eye(3))
    stiction.Stepper(moving, dt=1e-3)
