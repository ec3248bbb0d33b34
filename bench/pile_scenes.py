"""The scenes of `bench/compare --only scenes`: piles, stacks and walls, each described once for every engine."""

import numpy as np
from scene_shapes import Body, Scene, Shape, mesh, quaternion_of, random_quaternion, volume

KINDS = ("spheres", "boxes", "capsules", "meshes")


def pile_shape(kind, rng):
    """Spheres r = 10 cm, boxes 15 x 13 x 11 cm, capsules r = 6 cm and 12 cm long, hulls of 16 points on ellipsoids."""
    if kind == "spheres":
        return Shape("sphere", (0.1,))
    if kind == "boxes":
        return Shape("box", (0.15, 0.13, 0.11))
    if kind == "capsules":
        return Shape("capsule", (0.06, 0.12))
    points = rng.normal(size=(16, 3))
    points *= rng.uniform(0.06, 0.1, 3) / np.linalg.norm(points, axis=1)[:, None]
    return mesh(points)[0]


def bin_of(kind, count, duration=2.0):
    """`count` bodies of 1 kg let go layer by layer, turned at random, over a floor between four walls."""
    rng = np.random.default_rng([KINDS.index(kind), count])
    pitch = 0.26  # m: bodies of up to 0.24 m turned at random, shaken by 5 mm, do not overlap
    side = round(count ** (1 / 3))
    bodies = []
    for k in range(count):
        layer, place = divmod(k, side * side)
        row, column = divmod(place, side)
        position = pitch * (np.array([column, row, layer]) + 0.5) + rng.uniform(-0.005, 0.005, 3)
        bodies.append(Body(pile_shape(kind, rng), 1.0, position, random_quaternion(rng)))
    width = pitch * side
    planes = [
        (np.zeros(3), np.array([0.0, 0, 1])),
        (np.zeros(3), np.array([1.0, 0, 0])),
        (np.zeros(3), np.array([0.0, 1, 0])),
        (np.array([width, width, 0.0]), np.array([-1.0, 0, 0])),
        (np.array([width, width, 0.0]), np.array([0.0, -1, 0])),
    ]
    return Scene(f"bin of {count} {kind}", bodies, 2e-3, duration, 0.5, planes)


def balls_666(side=6, duration=2.0, dt=2e-3, friction=0.5, restitution=0.0, name=None):
    """SimBenchmark's scene 666: 6 x 6 x 6 balls of 10 kg, r = 10 cm, 21 cm apart but for 1 mm, 1.101 m up."""
    rng = np.random.default_rng(42)
    bodies = []
    for index in np.ndindex(side, side, side):
        position = 0.21 * np.array(index, float) + 1e-3 * rng.random(3) + [0, 0, 1.101]
        bodies.append(Body(Shape("sphere", (0.1,)), 10.0, position))
    name = name or f"{side} x {side} x {side} balls"
    return Scene(name, bodies, dt, duration, friction, restitution=restitution)


def card_house(levels=3, duration=1.0):
    """Cards of 88 x 63 x 0.5 mm and 2 g in pairs that lean by 13 degrees: 3, 2 on a card across them, 1 on the next."""
    length, depth, thick, lean = 0.088, 0.063, 5e-4, np.radians(13.0)
    card = Shape("box", (thick, depth, length))
    rise = length * np.cos(lean) + thick * np.sin(lean)  # of the highest edge over the lowest
    half = 0.5 * (length * np.sin(lean) + thick * np.cos(lean))  # from a card's middle to its outermost edge
    play, bodies = 1e-5, []  # m: cards begin apart and settle

    def add(x, z, angle):
        bodies.append(Body(card, 2e-3, np.array([x, 0.0, z]), quaternion_of([0, 1, 0], angle)))

    for level in range(levels):
        base, pairs = level * (rise + thick + 2.0 * play), levels - level
        for pair in range(pairs):
            x = 4.0 * (half + play) * (pair - 0.5 * (pairs - 1))
            add(x - half - play, base + 0.5 * rise + play, lean)
            add(x + half + play, base + 0.5 * rise + play, -lean)
        if pairs > 1:
            add(0.0, base + rise + 0.5 * thick + 2.0 * play, 0.5 * np.pi)
    return Scene("card house", bodies, 1e-3, duration, 0.6)


def arch(stones=15, duration=1.0):
    """A half circle of voussoirs of stone, mean radius 1 m, 0.25 m thick, 0.3 m deep, that touch face to face."""
    inner, outer, depth, density = 0.875, 1.125, 0.3, 2000.0
    faces = [
        (0, 1, 2),
        (0, 2, 3),
        (4, 6, 5),
        (4, 7, 6),
        (0, 5, 1),
        (0, 4, 5),
        (1, 6, 2),
        (1, 5, 6),
        (2, 7, 3),
        (2, 6, 7),
        (3, 4, 0),
        (3, 7, 4),
    ]
    bodies = []
    for k in range(stones):
        ends = [np.pi * k / stones, np.pi * (k + 1) / stones]
        ring = [(inner, ends[0]), (outer, ends[0]), (outer, ends[1]), (inner, ends[1])]
        corners = [[r * np.cos(a), y, r * np.sin(a)] for y in (-0.5 * depth, 0.5 * depth) for r, a in ring]
        shape, centre = mesh(corners, faces)
        bodies.append(Body(shape, density * volume(shape), centre))
    return Scene("arch", bodies, 1e-3, duration, 0.7)


def kapla_tower(levels=40, duration=1.0):
    """Planks of 117.8 x 23.5 x 7.8 mm and 13 g, two side by side and two across them, level by level."""
    size = (0.1178, 0.0235, 0.0078)
    across = quaternion_of([0, 0, 1], 0.5 * np.pi)
    bodies = []
    for level in range(levels):
        for side in (-1, 1):
            offset, z = 0.5 * side * (size[0] - size[1]), (level + 0.5) * size[2]
            if level % 2:
                bodies.append(Body(Shape("box", size), 0.013, np.array([offset, 0, z]), across))
            else:
                bodies.append(Body(Shape("box", size), 0.013, np.array([0, offset, z])))
    return Scene("Kapla tower", bodies, 1e-3, duration, 0.5)


def wall_and_ball(bricks=54, rows=11, duration=0.5):
    """Bricks of 20 x 10 x 10 cm, 4 kg, each on two of the row below (4096 contacts); a ball of 20 kg hits it."""
    bodies = []
    for row in range(rows):
        for k in range(bricks - row):
            position = np.array([0.2005 * (k + 0.5 * row), 0.0, 0.1 * (row + 0.5)])
            bodies.append(Body(Shape("box", (0.2, 0.1, 0.1)), 4.0, position))
    middle = 0.2005 * 0.5 * (bricks - 1)
    start, velocity = np.array([middle, -0.25, 0.055 * rows]), np.array([0.0, 5.0, 0.0])
    bodies.append(Body(Shape("sphere", (0.1,)), 20.0, start, velocity=velocity))
    return Scene(f"wall of {8 * (len(bodies) - 1) - 4 * bricks} contacts", bodies, 1e-3, duration, 0.6)


def scenes(quick=False):
    """All of them; `quick`: small ones, for a short time."""
    if quick:
        return [
            *(bin_of(kind, 8, 0.5) for kind in KINDS),
            balls_666(2, 0.6),
            card_house(2, 0.05),
            arch(7, 0.05),
            kapla_tower(4, 0.05),
            wall_and_ball(5, 3, 0.05),
        ]
    piles = [bin_of(kind, count) for count in (30, 100, 300) for kind in KINDS]
    return [*piles, balls_666(), card_house(), arch(), kapla_tower(), wall_and_ball()]
