"""Contact filters and equalities drawn at random against MuJoCo's: which geoms meet, how far a constraint is missed."""

import numpy as np
import pytest
from mujoco_models import Drawn, close, mujoco, ours, random_state

import stiction

CONNECT, WELD, JOINT = 0, 1, 2
LONG = 1e6  # s, a step so long that no speed of closing is capped: the target is the error over it


class DrawnPairs(Drawn):
    """Trees of spheres with filters, excluded and declared pairs, and equalities of their bodies, sites and joints."""

    def __init__(self, seed):
        self.bodies, self.geoms = [], []
        super().__init__(seed)
        filters = self.choice(("", '<option><flag filterparent="disable"/></option>'))
        contact = "".join('<exclude body1="{}" body2="{}"/>'.format(*self.two(self.bodies)) for _ in range(2))
        if len(self.geoms) > 1:
            contact += '<pair geom1="{}" geom2="{}"/>'.format(*self.two(self.geoms))
        equality = self.held() + self.held() + self.coupled()
        end = f"{filters}<contact>{contact}</contact><equality>{equality}</equality></mujoco>"
        self.xml = self.xml.replace("</mujoco>", end)

    def two(self, names):
        return self.random.sample(names, 2)

    def geom(self, groups="0123"):
        self.geoms.append(self.name("g"))
        bits = self.choice(
            ("", 'contype="2"', 'conaffinity="0"', 'contype="3" conaffinity="4"', 'contype="6" conaffinity="1"')
        )
        return f'<geom name="{self.geoms[-1]}" type="sphere" size="0.3" pos="{self.numbers(3)}" {bits} group="1"/>'

    def body(self, depth):
        text = super().body(depth)
        name = text.split('"')[1]
        self.bodies.append(name)
        head, rest = text.split(">", 1)
        return f'{head}><site name="s{name}" {self.place()}/>{rest}'

    def held(self):
        a, b = self.two(self.bodies)
        both, sites = f'body1="{a}" body2="{b}"', f'site1="s{a}" site2="s{b}"'
        return self.choice(
            (
                f'<connect {both} anchor="{self.numbers(3)}"/>',
                f'<connect body1="{a}" anchor="{self.numbers(3)}"/>',
                f"<connect {sites}/>",
                f"<weld {both}/>",
                f'<weld {both} relpose="0 1 0 0 0 0 0"/>',
                f'<weld {both} anchor="{self.numbers(3)}" relpose="{self.numbers(3)} {self.numbers(4)}"/>',
                f"<weld {sites}/>",
            )
        )

    def coupled(self):
        if len(self.joints) < 2:
            return ""
        a, b = self.two(self.joints)
        second = self.choice((f'joint2="{b}"', ""))
        return f'<joint joint1="{a}" {second} polycoef="{self.numbers(self.choice((1, 2, 5)))}"/>'


def drawn(seed):
    """One of two trees at least, so that there are bodies to hold together."""
    while True:
        try:
            return DrawnPairs(seed).xml
        except ValueError:  # fewer than two bodies
            seed += 1000


def loaded(seed, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # MuJoCo writes its log into the current folder
    xml = drawn(seed)
    world = stiction.World()
    world.add_robot(xml, filter_overlaps=False)
    return mujoco.MjModel.from_xml_string(xml), world


@pytest.mark.parametrize("seed", range(60))
def test_the_same_geoms_meet(seed, tmp_path, monkeypatch):
    model, world = loaded(seed, tmp_path, monkeypatch)
    model.geom_margin[:] = model.pair_margin[:] = 1e3  # whatever may meet does
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_MIDPHASE)  # which reads compiled margins
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    rigid = lambda geom: model.body_weldid[model.geom_bodyid[geom]]  # noqa: E731
    # A pair declared within one rigid body has no force that could move anything: we have none there.
    met = {frozenset((c.geom1, c.geom2)) for c in data.contact if rigid(c.geom1) != rigid(c.geom2)}
    tested = {frozenset(model.geom(name).id for name in pair) for pair in world.collision_pairs}
    assert tested == met


def frame(position, matrix):
    X = np.eye(4)
    X[:3, :3], X[:3, 3] = np.reshape(matrix, (3, 3)), position
    return X


def reference(model, data, k):
    """Frames that a weld of MuJoCo holds together, in the world."""
    a, b, numbers = model.eq_obj1id[k], model.eq_obj2id[k], model.eq_data[k]
    if model.eq_objtype[k] == mujoco.mjtObj.mjOBJ_SITE:
        return [frame(data.site_xpos[i], data.site_xmat[i]) for i in (a, b)]
    R = np.zeros(9)
    mujoco.mju_quat2Mat(R, numbers[6:10])
    A, B = (frame(data.xpos[i], data.xmat[i]) for i in (a, b))
    return A @ frame(numbers[3:6], R), B @ frame(numbers[:3], np.eye(3))


def turn(R):
    """Rotation vector (rad) of a rotation."""
    q = np.zeros(4)
    mujoco.mju_mat2Quat(q, R.ravel())
    q *= np.sign(q[0]) or 1.0
    length = np.linalg.norm(q[1:])
    return 2.0 * np.arctan2(length, q[0]) * q[1:] / (length or 1.0)


def at_one_point(model, data, k, gap):
    """What pushing both bodies between two points `gap` apart adds to a row: gap/2 x (w_A + w_B), across it."""
    w = np.zeros((3, model.nv))
    for which in (model.eq_obj1id[k], model.eq_obj2id[k]):
        body = model.site_bodyid[which] if model.eq_objtype[k] == mujoco.mjtObj.mjOBJ_SITE else which
        turning = np.zeros((3, model.nv))
        mujoco.mj_jac(model, data, None, turning, np.zeros(3), body)
        w += turning
    return np.cross(gap / 2.0, w, axisb=0, axisc=0)


@pytest.mark.parametrize("seed", range(60))
def test_an_equality_misses_what_mujocos_does(seed, tmp_path, monkeypatch):
    model, world = loaded(seed, tmp_path, monkeypatch)
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
    model.opt.jacobian = mujoco.mjtJacobian.mjJAC_DENSE
    data = mujoco.MjData(model)
    data.qpos[:], _ = random_state(model, seed)
    mujoco.mj_forward(model, data)
    q, v, T, _ = ours(model, data.qpos, np.zeros(model.nv))
    problem = world.problem(q, v, dt=LONG)
    rows = [i for i, kind in enumerate(problem.row_kinds) if kind == "equality"]
    J, errors = problem.J_b[rows] @ T, -problem.b[rows] * LONG
    efc_J = data.efc_J[: data.nefc * model.nv].reshape(-1, model.nv)
    efc_pos, efc_type, efc_id = (each[: data.nefc] for each in (data.efc_pos, data.efc_type, data.efc_id))
    first = 0
    for k in range(model.neq):
        kind = model.eq_type[k]
        count = {CONNECT: 3, WELD: 6, JOINT: 1}[kind]
        mine = slice(first, first + count)
        first += count
        if kind == WELD:
            A, B = reference(model, data, k)
            close(errors[mine], np.append(A[:3, 3] - B[:3, 3], turn(A[:3, :3] @ B[:3, :3].T)))
            continue
        theirs = (efc_type == mujoco.mjtConstraint.mjCNSTR_EQUALITY) & (efc_id == k)
        if theirs.any():  # MuJoCo drops what is between parts of one rigid body
            close(errors[mine], efc_pos[theirs])
            turned = at_one_point(model, data, k, efc_pos[theirs]) if kind == CONNECT else 0.0
            close(J[mine], efc_J[theirs] + turned)
    assert first == len(rows)
