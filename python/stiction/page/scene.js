// A state of a run as messages to viser's client: poses of bodies, contact points, force arrows, friction cones, centre of mass, feet.
const MODES = [
  { name: "open", color: [150, 154, 160] },
  { name: "sticks", color: [18, 104, 200] },
  { name: "slips", color: [232, 86, 0] },
];
const CUT = [196, 0, 110];  // of arrows that are longer than the longest
const PATHS = [[60, 66, 78], [196, 98, 16]], DESIRED = [176, 0, 158], ACTUAL = [24, 24, 24];  // of centres of mass, of feet
const STEEPEST = 5;         // friction beyond which a cone is as good as flat and is not drawn

// A point of a body in the world. pose: position, quaternion w x y z.
function placed([px, py, pz, w, x, y, z], [a, b, c]) {
  const u = 2 * (y * c - z * b), v = 2 * (z * a - x * c), t = 2 * (x * b - y * a);
  return [px + a + w * u + y * t - z * v, py + b + w * v + z * u - x * t, pz + c + w * t + x * v - y * u];
}

class RunView {
  constructor(run, content) {
    Object.assign(this, { run, content, states: new States(run), shown: {}, clear: false });
  }

  node(name) { return `${this.run.root}/${name}`; }

  visible(name, on) {
    if (this.shown[name] === on) return [];
    this.shown[name] = on;
    return [{ type: "SetSceneNodeVisibilityMessage", name, visible: on, owner: "" }];
  }

  update(name, on, updates) {
    const messages = this.visible(this.node(name), on);
    if (on) messages.push({ type: "SceneNodeUpdateMessage", name: this.node(name), updates, owner: "" });
    return messages;
  }

  // Arrows (6 per contact: tail, head) and colours (3 per contact) of a state; what bears nothing has none.
  arrows(state, scale) {
    const newtons = this.content.newtonsPerUnit / scale, longest = this.content.longestArrow;
    const points = [], colors = [];
    for (let k = 0; k < state.count; ++k) {
      const force = state.forces.subarray(3 * k, 3 * k + 3), size = Math.hypot(...force);
      if (!(size > 1e-6 * longest)) continue;
      const factor = Math.min(1, longest / size) / newtons;
      for (const end of [0, factor]) for (let axis = 0; axis < 3; ++axis) points.push(state.points[3 * k + axis] + end * force[axis]);
      colors.push(...(size > longest ? CUT : MODES[state.modes[k]].color));
    }
    return { points: Float32Array.from(points), colors: Uint8Array.from(colors) };
  }

  // Friction cones as tall as the arrow of the normal force: the force of a contact that slips lies on its cone.
  cones(state, scale) {
    const newtons = this.content.newtonsPerUnit / scale, longest = this.content.longestArrow;
    const turns = [], places = [], scales = [], colors = [];
    for (let k = 0; k < state.count; ++k) {
      const [x, y, z] = state.normals.subarray(3 * k, 3 * k + 3), mu = state.mu[k];
      const normal = state.forces[3 * k] * x + state.forces[3 * k + 1] * y + state.forces[3 * k + 2] * z;
      if (!(normal > 1e-6 * longest && mu > 0 && mu <= STEEPEST)) continue;
      const height = Math.min(normal, longest) / newtons;
      const turn = z > -1 + 1e-9 ? [1 + z, -y, x, 0] : [0, 1, 0, 0];
      const length = Math.hypot(...turn);
      turns.push(...turn.map(part => part / length));
      places.push(...state.points.subarray(3 * k, 3 * k + 3));
      scales.push(mu * height, mu * height, height);
      colors.push(...MODES[state.modes[k]].color);
    }
    const count = scales.length / 3, padded = 8 * Math.ceil(count / 8);
    for (let k = count; k < padded; ++k) turns.push(1, 0, 0, 0);
    const pad = (values, type) => { const out = new type(3 * padded); out.set(values); return out; };
    return {
      count, batched_wxyzs: Float32Array.from(turns), batched_positions: pad(places, Float32Array), batched_scales: pad(scales, Float32Array),
      batched_colors: pad(colors, Uint8Array),
    };
  }

  // Balls and lines of a state: contact points, centre of mass above its place on the ground, desired and actual feet.
  marks(state, options, moving) {
    const dot = this.content.dot, balls = [], lines = [];
    const ball = (place, radius, color) => balls.push({ place, radius, color });
    const line = (from, to, color) => lines.push({ ends: [...from, ...to], color });
    const triple = (array, k) => array.subarray(3 * k, 3 * k + 3);
    for (let k = 0; options.points && k < state.count; ++k) {
      ball(triple(state.points, k), (state.modes[k] === 0 ? 1.2 : 2.2) * dot, MODES[state.modes[k]].color);
    }
    if (options.center) {
      const color = PATHS[this.run.root === "/run0" ? 0 : 1], below = [state.center[0], state.center[1], this.run.ground];
      ball(state.center, 2.2 * dot, color);
      ball(below, 1.4 * dot, color);
      line(state.center, below, color);
    }
    for (const tendon of options.visuals ? this.run.tendons : []) {
      const ends = tendon.points.map((point, k) => placed(state.poses.subarray(7 * tendon.bodies[k], 7 * tendon.bodies[k] + 7), point));
      for (let k = 1; k < ends.length; ++k) line(ends[k - 1], ends[k], tendon.color);
    }
    for (let k = 0; options.feet && moving && k < this.states.aims; ++k) {
      ball(triple(state.targets, k), 2.4 * dot, DESIRED);
      ball(triple(state.reached, k), 1.6 * dot, ACTUAL);
      line(triple(state.targets, k), triple(state.reached, k), DESIRED);
    }
    return [balls, lines];
  }

  // viser makes a batch anew when its length changes: lengths are multiples of 8, the rest has no size.
  static batch(balls) {
    const count = 8 * Math.ceil(balls.length / 8), turns = new Float32Array(4 * count);
    for (let k = 0; k < count; ++k) turns[4 * k] = 1;
    const places = new Float32Array(3 * count), scales = new Float32Array(count), colors = new Uint8Array(3 * count);
    balls.forEach(({ place, radius, color }, k) => {
      places.set(place, 3 * k);
      scales[k] = radius;
      colors.set(color, 3 * k);
    });
    return { batched_wxyzs: turns, batched_positions: places, batched_scales: scales, batched_colors: colors };
  }

  // Messages that show a state. moved: where the run's frame is put, which follows the centre of mass or stands beside another run.
  show(index, options, moved) {
    const state = this.states.at(index), messages = [];
    this.state = state;
    this.run.nodes.forEach((name, b) => {
      const [x, y, z, ...turn] = state.poses.subarray(7 * b, 7 * b + 7);
      messages.push({ type: "SetPositionMessage", name, position: [x, y, z], owner: "" });
      messages.push({ type: "SetOrientationMessage", name, wxyz: turn, owner: "" });
    });
    messages.push({ type: "SetPositionMessage", name: this.run.root, position: moved, owner: "" });
    for (const { name, pose, section } of this.run.planes) {  // their lines stay where they are, and what is followed stays on them
      const [x, y] = placed([0, 0, 0, pose[3], ...pose.slice(4).map(part => -part)], moved).map(away => -section * Math.round(away / section));
      messages.push({ type: "SetPositionMessage", name, position: options.follow ? placed(pose, [x, y, 0]) : pose.slice(0, 3), owner: "" });
    }
    messages.push(...this.visible(this.run.root, options.run));
    const visuals = options.visuals && this.run.visual.length > 0;
    for (const name of this.run.visual) messages.push(...this.visible(name, visuals));
    for (const name of this.run.collision) messages.push(...this.visible(name, !visuals));
    if (this.clear !== options.clear) {
      this.clear = options.clear;
      for (const name of new Set([...this.run.visual, ...this.run.collision, ...this.run.movable])) {
        const opacity = options.clear ? 0.3 : this.run.opacities[name] ?? this.run.opacity;
        messages.push({ type: "SceneNodeUpdateMessage", name, updates: { opacity }, owner: "" });
      }
    }
    this.drawn = this.arrows(state, options.scale);
    messages.push(...this.update("forces", options.forces && this.drawn.points.length > 0, this.drawn));
    const { count, ...cones } = this.cones(state, options.scale);
    messages.push(...this.update("cones", options.cones && count > 0, cones));
    const [balls, lines] = this.marks(state, options, index > 0);
    messages.push(...this.update("balls", balls.length > 0, RunView.batch(balls)));
    messages.push(...this.update("lines", lines.length > 0, {
      points: Float32Array.from(lines.flatMap(line => line.ends)), colors: Uint8Array.from(lines.flatMap(line => [...line.color, ...line.color])),
    }));
    if (this.run.path) messages.push(...this.visible(this.node("path"), options.center));
    return messages;
  }
}
