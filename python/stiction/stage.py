"""One or two runs as a viser scene: what stands still, and the nodes that a page moves from state to state."""

from __future__ import annotations

import contextlib
import dataclasses
import io
import math
import typing

import msgspec
import numpy as np
import trimesh
import viser
import zstandard

from .drawing import Drawing
from .sizes import GROUND, NOTHING, Sizes, bounds_of, rotate, round_number
from .trajectory import RecordedShape, Trajectory
from .visuals import VisualShape, VisualTendon

SKY_COLOR, BELOW_COLOR = (255, 255, 255), (90, 88, 100)  # of the light from the sky and from across it
BRIGHTEST = (0.8, 0.3, 0.8)  # direction to the middle of the sky: aslant, so that the sides of a box differ
GROUND_COLOR, STATIC_COLOR = (222, 226, 230), (172, 178, 186)
BODY_COLORS = ((86, 124, 166), (140, 165, 190), (190, 170, 128), (126, 160, 128), (168, 132, 156), (132, 134, 182))
OTHER_COLOR, OTHER_OPACITY = (224, 142, 74), 0.55  # of the second run's bodies
PATH_COLORS = ((60, 66, 78), (196, 98, 16))
CONE_SIDES = 32
FIELD_OF_VIEW = math.radians(45.0)  # of the camera, upright; the page widens it in an upright picture
FARTHEST = 10.0  # in sizes of what moves, of all runs together: those that go farther are not shown whole


def mesh_of(shape: RecordedShape) -> trimesh.Trimesh:
    """The surface of a shape other than a plane, in the shape's frame."""
    radius, length = shape.size[0], shape.size[1]
    # Made of radius or side 1 and scaled: trimesh drops triangles below a length of its own (m).
    if shape.kind == "sphere":
        return trimesh.creation.icosphere(subdivisions=3).apply_scale(radius)
    if shape.kind == "box":
        return trimesh.creation.box().apply_scale(shape.size)
    if shape.kind == "capsule":
        return trimesh.creation.capsule(radius=1.0, height=length / radius, count=[24, 24]).apply_scale(radius)
    if shape.kind == "cylinder":
        return trimesh.creation.cylinder(radius=1.0, height=1.0, sections=32).apply_scale((radius, radius, length))
    return trimesh.Trimesh(shape.vertices, shape.faces, process=False)


def cone_mesh() -> tuple[np.ndarray, np.ndarray]:
    """Vertices (n, 3) and faces (m, 3) of a cone's side: apex at the origin, height and radius 1 along +z."""
    angle = 2.0 * np.pi * np.arange(CONE_SIDES) / CONE_SIDES
    rim = np.stack([np.cos(angle), np.sin(angle), np.ones(CONE_SIDES)], axis=1)
    k = np.arange(CONE_SIDES)
    faces = np.stack([np.zeros(CONE_SIDES, int), 1 + k, 1 + (k + 1) % CONE_SIDES], axis=1)
    return np.concatenate([np.zeros((1, 3)), rim]), faces


class View(typing.NamedTuple):
    """What the camera looks at (3,) and how large that is (m); follows: the page moves the world with what moves."""

    middle: np.ndarray
    size: float
    follows: bool = False


def view_of(trajectories: list[Trajectory]) -> View:
    """Where the runs go; where all of them start if that is too far for one picture or the first ends far off over the
    ground: it is followed if it leaves.
    """
    first, wholes = trajectories[0], []
    for trajectory in trajectories:
        last = len(trajectory.time) - 1
        wholes.append(bounds_of(trajectory, np.linspace(0, last, min(last, 50) + 1).astype(int)))
    whole = np.stack([np.min(wholes, axis=0)[0], np.max(wholes, axis=0)[1]])
    starts = [bounds_of(trajectory, [0]) for trajectory in trajectories]
    start, path = np.stack([np.min(starts, axis=0)[0], np.max(starts, axis=0)[1]]), first.center_of_mass
    size = [float(np.ptp(corners, axis=0).max()) for corners in (start, bounds_of(first), whole)]
    goes_far = np.hypot(*(path[-1] - path[0])[:2]) > size[1]
    shown = start if goes_far or size[2] > FARTHEST * max(size[:2]) else whole
    sides = np.ptp(shown, axis=0)
    leaves = np.linalg.norm(path - path[0], axis=1).max() > size[1]
    extent = max(float(sides.max()), 0.8 * float(np.linalg.norm(sides))) or NOTHING
    return View(shown.mean(axis=0), extent, bool(shown is start and leaves))


def eye_of(middle: np.ndarray, size: float) -> np.ndarray:
    """Where the camera is that shows what `view_of` tells."""
    return middle + 1.15 * size * np.array([1.0, -1.1, 0.55])


@dataclasses.dataclass
class DrawnRun:
    """A run's part of the scene. bodies: indices of those drawn, in the order of `frames`, their nodes; collision:
    nodes of shapes that visuals take the place of, those of bodies that have some; visual: theirs; movable: those
    of all shapes and visuals that move; opacities: of the visuals that let light through; tendons: their color and,
    by the places of their bodies in `bodies`, their points; planes: nodes, their poses (position, quaternion
    w x y z) and the distance of their lines (m), by which they go with what is followed; ground: height of its
    lowest contact point (m), on which the path of its centre of mass is drawn too."""

    root: str
    bodies: list[int] = dataclasses.field(default_factory=list)
    frames: list[str] = dataclasses.field(default_factory=list)
    collision: list[str] = dataclasses.field(default_factory=list)
    visual: list[str] = dataclasses.field(default_factory=list)
    movable: list[str] = dataclasses.field(default_factory=list)
    opacities: dict[str, float] = dataclasses.field(default_factory=dict)
    tendons: list[dict] = dataclasses.field(default_factory=list)
    planes: list[dict] = dataclasses.field(default_factory=list)
    ground: float = 0.0
    path: bool = False
    opacity: float | None = None


class Stage:
    """The scene of runs as viser's messages.

    drawing: how lengths and places are drawn; what follows is so. drawn: the runs. sizes: of arrows and grounds.
    messages: in order, as viser's client takes them, arrays in them being {"__binary_index": i, "dtype"}; buffers: the
    bytes of those.
    extent: of what the camera sees; follows: whether the page is to follow what moves.
    visuals: what the robots of the first run look like, beside what collides.
    view: what the camera looks at and how large that is (m), if not what `view_of` tells; it stays.
    """

    def __init__(
        self,
        trajectories: list[Trajectory],
        visuals: typing.Sequence[VisualShape | VisualTendon] = (),
        view: tuple[np.ndarray, float] | None = None,
    ) -> None:
        middle, extent, self.follows = View(*view) if view else view_of(trajectories)
        self.drawing = Drawing.of(middle, extent)
        self.middle, self.extent = self.drawing.places(middle), extent / self.drawing.unit
        trajectories = self.drawn = [self.drawing.run(trajectory) for trajectory in trajectories]
        visuals = [self.drawing.visual(visual) for visual in visuals]
        shapes = [visual for visual in visuals if isinstance(visual, VisualShape)]
        first = trajectories[0]
        self.sizes = Sizes.of(first)
        self.section = self.sizes.section
        if len(trajectories) > 1:  # that may stand far apart, on one ground
            self.section = max(self.section, round_number(0.25 * self.extent))
        with contextlib.redirect_stdout(io.StringIO()):  # viser's own banner
            server = viser.ViserServer(host="127.0.0.1", port=0, verbose=False)
        try:
            self.scene = server.scene
            self.scene.set_up_direction("+z")
            self._light()
            self.runs = []
            dressed = {shape.body for shape in shapes}
            for index, run in enumerate(trajectories):
                self.runs.append(self._add_run(index, run, trajectories[:index], dressed))
            for k, shape in enumerate(shapes):
                self._add_visual(k, shape, bool(first.body_mass[shape.body] > 0.0))
            for tendon in (visual for visual in visuals if isinstance(visual, VisualTendon)):
                places = [self._place_of(body) for body in tendon.bodies]
                self.runs[0].tendons.append({"color": tendon.color, "bodies": places, "points": tendon.points.tolist()})
            self._aim_camera(server, self.middle, self.extent)
            self.messages, self.buffers = _decode(server.get_scene_serializer().serialize())
        finally:
            with contextlib.redirect_stdout(io.StringIO()):
                server.stop()

    def _light(self) -> None:
        """A sun, whose shadows the page turns on, and a sky. Not viser's picture of one: where a processor draws, that
        takes longer than all else to open, and doubles what a picture takes."""
        self.scene.configure_default_lights(cast_shadow=False)
        self.scene.configure_environment_map(None)
        self.scene.add_light_hemisphere(
            "/sky", sky_color=SKY_COLOR, ground_color=BELOW_COLOR, intensity=3.0, position=BRIGHTEST
        )

    def _add_run(
        self, index: int, trajectory: Trajectory, earlier: list[Trajectory], dressed: typing.Collection[int]
    ) -> DrawnRun:
        """dressed: bodies of the first run that have visuals."""
        run = DrawnRun(f"/run{index}")
        self.scene.add_frame(run.root, show_axes=False)
        moving = trajectory.body_mass > 0.0
        shapes = [s for s in trajectory.shapes if moving[s.body] or not any(_has(other, s) for other in earlier)]
        run.bodies = sorted({shape.body for shape in shapes})
        for body in run.bodies:
            name = trajectory.body_names[body].replace("/", "_")
            run.frames.append(f"{run.root}/{body} {name}")
            self.scene.add_frame(run.frames[-1], show_axes=False)
        for k, shape in enumerate(shapes):
            node = f"{run.frames[run.bodies.index(shape.body)]}/{k} {shape.name.replace('/', '_')}"
            moves = bool(moving[shape.body])
            if shape.kind == "plane":
                shape = self._under_camera(shape, trajectory.body_poses[0, shape.body])
            color = BODY_COLORS[shape.body % len(BODY_COLORS)] if moves else STATIC_COLOR
            if moves and index > 0:
                self._add_shape(node, shape, OTHER_COLOR, opacity=OTHER_OPACITY)
            else:
                self._add_shape(node, shape, color)
            if shape.kind == "plane":
                x, y, z, w = shape.placement[3:]
                run.planes.append({"name": node, "pose": [*shape.placement[:3], w, x, y, z], "section": self.section})
            if index == 0 and shape.body in dressed and shape.kind != "plane":
                run.collision.append(node)
            if moves:
                run.movable.append(node)
        run.opacity = OTHER_OPACITY if index > 0 else None
        run.ground = float(trajectory.contact_points[:, 2].min(initial=np.inf))
        if not np.isfinite(run.ground):
            run.ground = float(trajectory.center_of_mass[:, 2].min())
        self._add_marks(run.root, index)
        run.path = self._add_path(run, index, trajectory.center_of_mass)
        return run

    def _under_camera(self, plane: RecordedShape, body: np.ndarray) -> RecordedShape:
        """A ground, which is drawn as far as one sees, below what is looked at; its lines stay where they are."""
        away = self.middle
        for pose in (body, plane.placement):
            away = rotate(pose[3:] * (-1, -1, -1, 1), away - pose[:3])
        steps = self.section * np.round(away / self.section) * (1, 1, 0)
        placement = np.concatenate([plane.placement[:3] + rotate(plane.placement[3:], steps), plane.placement[3:]])
        return dataclasses.replace(plane, placement=placement)

    def _place_of(self, body: int) -> int:
        """Index of a body among those drawn of the first run."""
        run = self.runs[0]
        if body not in run.bodies:  # a link that looks like something and collides with nothing
            run.bodies.append(body)
            run.frames.append(f"{run.root}/{body} visual")
            self.scene.add_frame(run.frames[-1], show_axes=False)
        return run.bodies.index(body)

    def _add_visual(self, index: int, shape: VisualShape, moves: bool) -> None:
        run, place = self.runs[0], self._place_of(shape.body)
        node = f"{run.frames[place]}/visual {index}"
        run.visual.append(node)
        if moves:
            run.movable.append(node)
        if shape.opacity < 1.0:
            run.opacities[node] = shape.opacity
        self._add_shape(node, shape, shape.color, run.opacities.get(node))

    def _add_shape(
        self, node: str, shape: RecordedShape, color: tuple[int, int, int], opacity: float | None = None
    ) -> None:
        x, y, z, w = shape.placement[3:]
        place = {"position": tuple(shape.placement[:3]), "wxyz": (w, x, y, z)}
        if shape.kind == "plane":
            extent = GROUND * self.section
            self.scene.add_grid(
                node,
                width=extent,
                height=extent,
                plane="xy",
                cell_size=0.5 * self.section,
                section_size=self.section,
                cell_color=(206, 210, 214),
                section_color=(180, 185, 191),
                plane_color=GROUND_COLOR,
                plane_opacity=1.0,
                shadow_opacity=0.25,
                fade_distance=0.6 * extent,
                **place,
            )
            return
        if isinstance(shape, VisualShape) and shape.surface is not None:
            self.scene.add_mesh_trimesh(node, shape.surface, **place)
            return
        mesh = mesh_of(shape)
        # Of an open surface both sides are drawn, and would throw their shadow on themselves: ground only gets shadows,
        # what looks like something and does not collide only throws them.
        closed, looks = mesh.is_volume, isinstance(shape, VisualShape)
        self.scene.add_mesh_simple(
            node,
            mesh.vertices,
            mesh.faces,
            color=color,
            flat_shading=shape.kind in ("box", "mesh"),
            side="front" if closed else "double",
            cast_shadow=closed or looks,
            receive_shadow=closed or not looks,
            opacity=opacity,
            **place,
        )

    def _add_marks(self, root: str, run: int) -> None:
        """Arrows, cones, dots and lines, hidden until a state has some."""
        turn, place = np.array([[1.0, 0, 0, 0]]), np.zeros((1, 3))
        self.scene.add_arrows(
            f"{root}/forces",
            np.zeros((1, 2, 3), np.float32),
            np.zeros((1, 3), np.uint8),
            shaft_radius=self.sizes.shaft_radius,
            head_radius=self.sizes.head_radius,
            head_length=self.sizes.head_length,
            visible=False,
        )
        batch = {"lod": "off", "cast_shadow": False, "receive_shadow": False, "visible": False}
        self.scene.add_batched_meshes_simple(
            f"{root}/cones",
            *cone_mesh(),
            turn,
            place,
            batched_scales=np.ones((1, 3)),
            batched_colors=np.zeros((1, 3), np.uint8),
            opacity=0.3,
            side="double",
            **batch,
        )
        ball = trimesh.creation.icosphere(subdivisions=2, radius=1.0)
        self.scene.add_batched_meshes_simple(
            f"{root}/balls",
            ball.vertices,
            ball.faces,
            turn,
            place,
            batched_scales=np.ones(1),
            batched_colors=np.zeros((1, 3), np.uint8),
            **batch,
        )
        self._add_lines(f"{root}/lines", np.zeros((1, 2, 3)), PATH_COLORS[run])

    def _add_path(self, run: DrawnRun, index: int, path: np.ndarray) -> bool:
        """The path of the centre of mass and the same on the ground; whether there is one."""
        path = path[:: max(1, len(path) // 500)]  # points enough for a smooth line
        if len(path) < 2 or np.ptp(path, axis=0).max() == 0.0:
            return False
        both = [path, np.column_stack([path[:, :2], np.full(len(path), run.ground)])]
        segments = np.concatenate([np.stack([line[:-1], line[1:]], axis=1) for line in both])
        self._add_lines(f"{run.root}/path", segments, PATH_COLORS[index])
        return True

    def _add_lines(self, node: str, segments: np.ndarray, color: tuple[int, int, int]) -> None:
        self.scene.add_line_segments(
            node, segments.astype(np.float32), color, thickness=2.0, thickness_units="screen", visible=False
        )

    def _aim_camera(self, server: viser.ViserServer, middle: np.ndarray, size: float) -> None:
        server.initial_camera.fov = FIELD_OF_VIEW
        server.initial_camera.position = tuple(eye_of(middle, size))
        server.initial_camera.look_at = tuple(middle)


def _has(trajectory: Trajectory, shape: RecordedShape) -> bool:
    """Whether a run has this fixed shape too, in the same place."""
    return any(
        trajectory.body_mass[other.body] == 0.0
        and other.kind == shape.kind
        and np.array_equal(other.placement, shape.placement)
        and np.array_equal(other.size, shape.size)
        and np.array_equal(other.vertices, shape.vertices)
        for other in trajectory.shapes
    )


def _decode(recording: bytes) -> tuple[list[dict], list[bytes]]:
    """Messages and arrays of a viser recording (the format that its `StateSerializer.serialize` documents)."""
    inner = zstandard.ZstdDecompressor().decompress(
        recording[8:], max_output_size=int.from_bytes(recording[:8], "little")
    )
    end = 8 + int.from_bytes(inner[:8], "little")
    content = msgspec.msgpack.decode(inner[8:end])
    buffers = []
    for length in content["binaryBufferLengths"]:
        start = end + (-end) % 8  # aligned
        end = start + length
        buffers.append(inner[start:end])
    return [_extracted(message, buffers) for _, message in content["messages"]], buffers


def _extracted(value: typing.Any, buffers: list[bytes]) -> typing.Any:
    """The value with bytes in it, as textured meshes have, moved to the buffers."""
    if isinstance(value, bytes):
        buffers.append(value)
        return {"__binary_index": len(buffers) - 1, "dtype": "|u1"}
    if isinstance(value, dict):
        return {key: _extracted(item, buffers) for key, item in value.items()}
    return [_extracted(item, buffers) for item in value] if isinstance(value, list | tuple) else value
