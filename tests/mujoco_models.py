"""MJCF drawn at random, and MuJoCo's states as ours: shared by the tests that compare the two."""

import random

import numpy as np
import pytest

mujoco = pytest.importorskip("mujoco", reason="needs mujoco as the reference")

COMPILERS = (
    "",
    'angle="radian"',
    'eulerseq="XyZ"',
    'eulerseq="zyx" inertiafromgeom="true"',
    'boundmass="3" boundinertia="0.2" settotalmass="5"',
    'balanceinertia="true" inertiagrouprange="0 2"',
)
DEFAULTS = """<default><geom density="700"/><joint damping="0.1"/><default class="c1"><geom density="300" type="box"
    size="0.1 0.2 0.3"/><joint armature="0.3" range="-50 40"/><default class="c2"><geom mass="0.3" quat="1 2 3 4"/>
    <joint type="slide" frictionloss="0.2" ref="0.5" range="0 0"/></default></default></default>"""


class Drawn:
    """A model of a few trees, every choice from one seed."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.count = 0
        self.joints = []
        trees = "".join(self.body(0) for _ in range(self.choice((1, 2))))
        compiler = self.choice(COMPILERS)
        actuators = "".join(self.actuator(name) for name in self.joints if self.maybe(0.5))
        world = f"<compiler {compiler}/>{DEFAULTS}<worldbody>{trees}</worldbody>"
        self.xml = f"<mujoco>{world}<actuator>{actuators}</actuator></mujoco>"

    def choice(self, options):
        return self.random.choice(options)

    def maybe(self, share):
        return self.random.random() < share

    def name(self, kind):
        self.count += 1
        return f"{kind}{self.count}"

    def numbers(self, count, low=-1.0, high=1.0):
        return " ".join(f"{self.random.uniform(low, high):.3f}" for _ in range(count))

    def place(self):
        turn = self.choice(
            (
                "",
                f'quat="{self.numbers(4)}"',
                f'axisangle="{self.numbers(3)} {self.numbers(1, -90, 90)}"',
                f'euler="{self.numbers(3, -90, 90)}"',
                f'xyaxes="{self.numbers(6)}"',
                f'zaxis="{self.numbers(3)}"',
            )
        )
        return f'pos="{self.numbers(3)}" {turn}'

    def of_class(self):
        return self.choice(("", "", 'class="c1"', 'class="c2"'))

    def geom(self, groups="0123"):
        kind = self.choice(("sphere", "box", "capsule", "cylinder", "ellipsoid"))
        place = f'size="{self.numbers(3, 0.02, 0.2)}" {self.place()}'
        if kind != "sphere" and self.maybe(0.3):
            place = f'fromto="{self.numbers(6)}" size="{self.numbers(1, 0.02, 0.1)}"'
        mass = self.choice(("", f'mass="{self.numbers(1, 0.1, 2)}"', f'density="{self.numbers(1, 100, 2000)}"'))
        more = f'{self.of_class()} group="{self.choice(groups)}"'
        return f'<geom name="{self.name("g")}" type="{kind}" {place} {mass} {more}/>'

    def joint(self, kind):
        name = self.name("j")
        out = f'<joint name="{name}" {self.of_class()} type="{kind}" axis="{self.numbers(3)}" pos="{self.numbers(3)}"'
        for key in ("damping", "armature", "frictionloss"):
            out += f' {key}="{self.numbers(1, 0, 5)}"' if self.maybe(0.3) else ""
        if kind == "ball":
            return out + ' limited="false"/>'
        self.joints.append(name)
        out += f' ref="{self.numbers(1, -50, 50)}"' if self.maybe(0.3) else ""
        out += f' stiffness="{self.numbers(1, 0, 5)}" springref="{self.numbers(1, -50, 50)}"' if self.maybe(0.3) else ""
        out += self.choice(("", f' range="{self.numbers(1, -90, 0)} {self.numbers(1, 0, 90)}"', ' range="0 0"'))
        return out + "/>"

    def joints_of(self, depth):
        if depth == 0 and self.maybe(0.3):
            return self.choice(("<freejoint/>", '<joint type="free" damping="0.3" armature="2" limited="false"/>'))
        kinds = self.choice(((), ("hinge",), ("slide",), ("hinge", "hinge"), ("slide", "slide", "hinge"), ("ball",)))
        return "".join(self.joint(kind) for kind in kinds)

    def actuator(self, joint):
        force = f'gear="{self.numbers(1, -3, 3)}" armature="{self.numbers(1, 0, 1)}" damping="{self.numbers(1, 0, 1)}"'
        return self.choice(
            (f'<motor joint="{joint}" {force} ctrlrange="-1 1"/>', f'<position joint="{joint}" {force} kp="0"/>')
        )

    def body(self, depth):
        parts = self.joints_of(depth) + self.geom("012")
        if self.maybe(0.3):
            parts += f'<inertial {self.place()} mass="1.5" diaginertia="{self.numbers(3, 0.1, 0.15)}"/>'
        if self.maybe(0.3):
            inherited = self.choice(("", 'childclass="c1"'))
            parts += f"<frame {self.place()} {inherited}>{self.geom()}</frame>"
        for _ in range(self.choice((0, 1, 1, 2)) if depth < 3 else 0):
            child = self.body(depth + 1)
            parts += f"<frame {self.place()}>{child}</frame>" if self.maybe(0.2) else child
        weightless = f'gravcomp="{self.numbers(1, 0, 1)}"' if self.maybe(0.2) else ""
        inherited = self.choice(("", "", 'childclass="c1"', 'childclass="c2"'))
        return f'<body name="{self.name("b")}" {self.place()} {inherited} {weightless}>{parts}</body>'


def random_state(model, seed):
    rng = np.random.default_rng(seed)
    q = model.qpos0 + 0.5 * rng.standard_normal(model.nq)
    for kind, first in zip(model.jnt_type, model.jnt_qposadr, strict=True):
        if kind <= 1:
            at = first + 3 * (kind == 0)
            q[at : at + 4] /= np.linalg.norm(q[at : at + 4])
    return q, rng.standard_normal(model.nv)


def ours(model, q, v):
    """q, v, T with v_ours = T v, and dT/dt v: quaternions are [x y z w], a free joint's velocity is in body axes."""
    q, T, turning = q.copy(), np.eye(model.nv), np.zeros(model.nv)
    for kind, at, d in zip(model.jnt_type, model.jnt_qposadr, model.jnt_dofadr, strict=True):
        if kind > 1:
            continue
        at += 3 * (kind == 0)
        R = np.zeros(9)
        mujoco.mju_quat2Mat(R, q[at : at + 4])
        q[at : at + 4] = np.roll(q[at : at + 4], -1)
        if kind == 0:
            R = R.reshape(3, 3)
            T[d : d + 3, d : d + 3] = R.T
            turning[d : d + 3] = -np.cross(v[d + 3 : d + 6], R.T @ v[d : d + 3])
    return q, T @ v, T, turning


def close(actual, expected):
    np.testing.assert_allclose(actual, expected, rtol=0, atol=1e-9 * (1.0 + np.abs(expected).max(initial=0.0)))
