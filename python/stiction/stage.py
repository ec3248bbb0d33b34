"""A recorded run drawn with viser: shapes, ground, contact points and force arrows, state by state."""

from __future__ import annotations

import math

import numpy as np
import trimesh
import viser

from .trajectory import RecordedShape, Trajectory

GRAVITY = 9.81  # m/s², of the weight that the arrows are scaled by
GROUND_COLOR, STATIC_COLOR, POINT_COLOR = (214, 218, 222), (150, 156, 162), (30, 30, 30)
FORCE_COLOR, CUT_COLOR = (235, 70, 0), (190, 0, 110)
BODY_COLORS = ((118, 150, 184), (158, 178, 196), (196, 178, 140), (140, 170, 140), (176, 146, 166), (150, 150, 190))
LONGEST_ARROW = (
    4.0  # in lengths of the arrow that stands for the whole weight; what is longer is cut and takes CUT_COLOR
)


def mesh_of(shape: RecordedShape) -> trimesh.Trimesh:
    """The surface of a shape other than a plane, in the shape's frame."""
    radius, length = shape.size[0], shape.size[1]
    if shape.kind == "sphere":
        return trimesh.creation.icosphere(subdivisions=3, radius=radius)
    if shape.kind == "box":
        return trimesh.creation.box(extents=shape.size)
    if shape.kind == "capsule":
        return trimesh.creation.capsule(radius=radius, height=length, count=[24, 24])
    if shape.kind == "cylinder":
        return trimesh.creation.cylinder(radius=radius, height=length, sections=32)
    return trimesh.Trimesh(shape.vertices, shape.faces, process=False)


def round_number(value: float) -> float:
    """The number 1, 2 or 5 times a power of ten nearest below."""
    power = 10.0 ** math.floor(math.log10(value))
    return max(digit for digit in (1, 2, 5) if digit * power <= value * (1 + 1e-9)) * power


def rotate(quaternion: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Points (..., 3) turned by a quaternion x y z w."""
    u, w = quaternion[:3], quaternion[3]
    cross = 2.0 * np.cross(u, points)
    return points + w * cross + np.cross(u, cross)


class Stage:
    """Puts a trajectory into a viser scene; `show` moves it to a state."""

    def __init__(self, server: viser.ViserServer, trajectory: Trajectory) -> None:
        self.scene, self.trajectory = server.scene, trajectory
        self.moving = trajectory.body_mass > 0.0
        self.bounds = self._bounds()
        self.size = max(float(np.max(self.bounds[1] - self.bounds[0])), 1e-3)
        self.newtons_per_meter = self._arrow_scale()
        self.dot = 0.006 * self.size
        self.scene.set_up_direction("+z")
        self.frames = {body: self._add_body(body) for body in self._drawn_bodies()}
        for index, shape in enumerate(trajectory.shapes):
            self._add_shape(index, shape)
        self.arrows = self._add_arrows("/forces", FORCE_COLOR)
        self.cut_arrows = self._add_arrows("/forces_cut", CUT_COLOR)
        self.points = self.scene.add_point_cloud(
            "/contacts",
            np.zeros((1, 3), np.float32),
            POINT_COLOR,
            point_size=1.5 * self.dot,
            point_shape="circle",
            visible=False,
        )
        self._aim_camera(server)
        self.poses: dict[int, np.ndarray] = {}
        self.forces_visible = True
        self.show(0)

    # ---- what stays ----

    def _body_points(self, state: int, body: int) -> np.ndarray:
        """Corners of the boxes around a body's shapes, in the world (n, 3)."""
        pose = self.trajectory.body_poses[state, body]
        corners = [np.zeros((1, 3))]
        for shape in self.trajectory.shapes:
            if shape.body == body and shape.kind != "plane":
                box = trimesh.bounds.corners(mesh_of(shape).bounds)
                corners.append(shape.placement[:3] + rotate(shape.placement[3:], box))
        return pose[:3] + rotate(pose[3:], np.concatenate(corners))

    def _bounds(self) -> np.ndarray:
        """Lower and upper corner of what moves, at the end of the run (2, 3)."""
        bodies = np.flatnonzero(self.moving)
        if len(bodies) == 0:
            bodies = np.arange(len(self.moving))
        points = np.concatenate([self._body_points(-1, body) for body in bodies] or [np.zeros((1, 3))])
        return np.stack([points.min(axis=0), points.max(axis=0)])

    def _arrow_scale(self) -> float:
        """Newtons that a metre of arrow stands for: the whole weight is an arrow about as long as what moves."""
        weight = GRAVITY * float(self.trajectory.body_mass.sum())
        return 1.0 / round_number(self.size / weight) if weight > 0.0 else 1.0

    def _drawn_bodies(self) -> list[int]:
        return sorted({shape.body for shape in self.trajectory.shapes})

    def _add_body(self, body: int) -> viser.FrameHandle:
        name = self.trajectory.body_names[body].replace("/", "_")
        return self.scene.add_frame(f"/bodies/{body} {name}", show_axes=False)

    def _add_shape(self, index: int, shape: RecordedShape) -> None:
        x, y, z, w = shape.placement[3:]
        place = {"position": tuple(shape.placement[:3]), "wxyz": (w, x, y, z)}
        name = f"{self.frames[shape.body].name}/{index} {shape.name.replace('/', '_')}"
        if shape.kind == "plane":
            extent, cell = 40.0 * round_number(self.size), 0.5 * round_number(self.size)
            self.scene.add_grid(
                name,
                width=extent,
                height=extent,
                plane="xy",
                cell_size=cell,
                section_size=2 * cell,
                cell_color=(200, 204, 208),
                section_color=(176, 180, 186),
                plane_color=GROUND_COLOR,
                plane_opacity=0.55,
                fade_distance=0.6 * extent,
                **place,
            )
            return
        mesh = mesh_of(shape)
        moving = self.moving[shape.body]
        color = BODY_COLORS[shape.body % len(BODY_COLORS)] if moving else STATIC_COLOR
        self.scene.add_mesh_simple(
            name,
            mesh.vertices,
            mesh.faces,
            color=color,
            flat_shading=shape.kind in ("box", "mesh"),
            side="double",
            opacity=0.75 if moving else None,
            **place,
        )

    def _add_arrows(self, name: str, color: tuple[int, int, int]) -> viser.ArrowsHandle:
        return self.scene.add_arrows(
            name,
            np.zeros((1, 2, 3), np.float32),
            color,
            shaft_radius=0.6 * self.dot,
            head_radius=1.6 * self.dot,
            head_length=4.0 * self.dot,
            visible=False,
        )

    def _aim_camera(self, server: viser.ViserServer) -> None:
        middle = self.bounds.mean(axis=0)
        server.initial_camera.fov = math.radians(45.0)
        server.initial_camera.position = tuple(middle + 1.25 * self.size * np.array([1.0, -1.1, 0.55]))
        server.initial_camera.look_at = tuple(middle)

    # ---- what changes ----

    def arrows_of(self, state: int) -> tuple[np.ndarray, np.ndarray]:
        """Tails and heads of the arrows of a state (n, 2, 3) m, and which of them are cut (n,)."""
        at = self.trajectory.contacts(state)
        points, forces = self.trajectory.contact_points[at], self.trajectory.contact_forces[at]
        size = np.linalg.norm(forces, axis=1)
        longest = LONGEST_ARROW * GRAVITY * float(self.trajectory.body_mass.sum())
        carrying = size > 1e-6 * max(longest, 1e-300)
        points, forces, size = points[carrying], forces[carrying], size[carrying]
        cut = size > longest
        forces = forces * np.where(cut, longest / np.maximum(size, 1e-300), 1.0)[:, None]
        return np.stack([points, points + forces / self.newtons_per_meter], axis=1), cut

    def show(self, state: int) -> None:
        for body, frame in self.frames.items():
            pose = self.trajectory.body_poses[state, body]
            if body in self.poses and np.array_equal(self.poses[body], pose):
                continue
            self.poses[body] = pose
            frame.position = tuple(pose[:3])
            frame.wxyz = (pose[6], pose[3], pose[4], pose[5])
        arrows, cut = self.arrows_of(state)
        self._set(self.arrows, arrows[~cut], self.forces_visible)
        self._set(self.cut_arrows, arrows[cut], self.forces_visible)
        self._set(self.points, self.trajectory.contact_points[self.trajectory.contacts(state)], self.forces_visible)

    @staticmethod
    def _set(handle: viser.ArrowsHandle | viser.PointCloudHandle, points: np.ndarray, wanted: bool) -> None:
        visible = wanted and len(points) > 0
        if visible:
            handle.points = points.astype(np.float32)
        if handle.visible != visible:
            handle.visible = visible

    @property
    def legend(self) -> str:
        return f"1 m of arrow = {self.newtons_per_meter:g} N; arrows beyond {LONGEST_ARROW:g} times the weight are cut"
