// What goes on while it is looked at: its server (stiction/live.py) sends states, this sends what the person does.
const KEPT = 3000;  // states that can be scrubbed back to: 100 s at 30 per second
const REST = 200;   // ms for which a slider stands still before its value is asked for: one request for a drag, not one for each pixel

class Live {
  constructor(content, player, view, charts) {
    Object.assign(this, { content, player, view, charts, controls: content.live.controls, notice: "", ended: false });
    this.lengths = content.runs[0].charts.map(chart => chart.names.length);
    for (const chart of content.runs[0].charts) [chart.time, chart.curves] = [[], chart.names.map(() => [])];
    if (location.protocol !== "file:") this.listen();  // of a page in a file, who drives the browser asks for pictures
    if (!this.controls) return;
    this.build(document.getElementById("live"));
    stiction.received = message => message.type === "SceneNodeDragMessage" && this.drag(message);
    stiction.send(this.bindings());
  }

  listen() {
    this.socket = new WebSocket(`ws://${location.host}/stream`);
    this.socket.binaryType = "arraybuffer";
    this.socket.onmessage = event => {
      if (typeof event.data === "string") this.told(JSON.parse(event.data));
      else this.receive(new Float32Array(event.data));
    };
    this.socket.onclose = () => {
      this.ended = true;
      document.getElementById("legend").innerHTML = "<em>the simulation has ended</em>";
      for (const control of document.querySelectorAll("#live button, #live input")) control.disabled = true;
      this.show();
    };
  }

  get running() { return !this.ended && (this.controls?.run ?? true); }

  say(what) { if (this.socket.readyState === 1) this.socket.send(JSON.stringify(what)); }

  // Bodies can be dragged: viser's client says where the grabbed point and the pointer are.
  bindings() {
    return this.content.runs[0].movable.map(name => ({
      type: "SetSceneNodeDragBindingsMessage", name, bindings: [{ button: "left", modifier: null }], owner: "",
    }));
  }

  drag(message) {
    if (message.phase === "end") return this.say({ push: null });
    const node = message.name.slice(0, message.name.lastIndexOf("/"));
    const body = this.content.runs[0].bodies[this.content.runs[0].nodes.indexOf(node)];
    const local = position => position.map((x, axis) => this.content.origin[axis] + this.content.unit * (x - this.view.moved[axis]));
    this.say({ push: { body, point: local(message.start_position), target: local(message.end_position) } });
  }

  build(section) {
    section.hidden = false;
    this.title = document.createElement("span");
    section.replaceChildren(this.title);
    const button = (text, action) => {
      const element = document.createElement("button");
      element.textContent = text;
      element.onclick = () => { action(element); element.blur(); };
      section.append(element);
      return element;
    };
    this.runButton = button("Pause", () => this.run(!this.running));
    button("Step", () => { this.run(false); this.say({ step: true }); });
    button("Restart", () => { this.view.states.forget(); this.clear(); this.say({ restart: true }); });
    if (this.controls.holds) {
      this.holdButton = button("Hold joints", () => this.set({ hold: !this.controls.hold }));
      this.holdButton.className = "chip";
    }
    this.label = document.createElement("span");
    this.friction = document.createElement("input");
    Object.assign(this.friction, { type: "range", min: 0, max: 1.5, step: 0.01, value: 0.5, id: "friction" });
    this.friction.oninput = () => {
      this.tellFriction(this.friction.value);
      clearTimeout(this.moving);
      this.moving = setTimeout(() => { this.moving = null; this.set({ friction: Number(this.friction.value) }); }, REST);
    };
    section.append(this.label, this.friction);
    this.show();
  }

  tellFriction(value) { this.label.innerHTML = `Friction of all contacts <b>${value}</b>`; }

  // What the server says of itself: why it stands still ("": nothing stops it), and what its controls are at, whoever set them.
  told({ notice, controls }) {
    if (!this.controls) return;
    Object.assign(this, { notice, controls });
    this.show();
  }

  // The controls as they are at.
  show() {
    if (!this.controls) return;
    const { run, speed, hold, friction } = this.controls, select = document.getElementById("speed");
    const goes = run ? "Running simulation: drag a body to push it" : "Paused: Run goes on, Step takes one step";
    this.title.textContent = this.ended ? "The simulation has ended" : this.notice || goes;
    this.runButton.textContent = this.running ? "Pause" : "Run";
    this.holdButton?.setAttribute("aria-pressed", hold);
    if (!this.moving) this.tellFriction(friction ?? "as in the scene");
    if (!this.moving && friction !== null) this.friction.value = friction;
    const listed = [...select.options].some(option => Number(option.value) === speed);
    if (!listed) select.add(new Option(`${short(speed)}×`, speed));
    select.value = this.player.speed = speed;
    this.player.changed();
  }

  // Sets controls, by the names that the server has for them.
  set(what) {
    if (this.ended) return;
    Object.assign(this.controls, what);
    this.show();
    this.say(what);
  }

  run(on) { this.set({ run: on }); }

  clear() {
    for (const chart of this.content.runs[0].charts) {
      chart.time.length = 0;
      for (const curve of chart.curves) curve.length = 0;
    }
  }

  receive(numbers) {
    let at = 0;
    const take = length => numbers.subarray(at, at += length);
    const [time, count] = take(2), bodies = this.content.runs[0].nodes.length;
    const states = this.view.states;
    if (states.times.length && time < states.times[states.times.length - 1]) { states.forget(); this.clear(); }
    states.push({
      time, count, poses: take(7 * bodies), center: take(3), points: take(3 * count), forces: take(3 * count), normals: take(3 * count),
      mu: take(count), modes: take(count), targets: new Float32Array(0), reached: new Float32Array(0),
    }, KEPT);
    this.content.runs[0].charts.forEach((chart, k) => {
      if (chart.time.length >= KEPT) for (const row of [chart.time, ...chart.curves]) row.splice(0, KEPT >> 2);
      chart.time.push(time);
      take(this.lengths[k]).forEach((value, curve) => chart.curves[curve].push(value));
    });
    this.player.bound(states.times[0], time);
    this.player.seek(time);
    const now = performance.now();
    if (now - (this.drawn ?? 0) < 200) return;  // plots five times a second: the picture goes first
    this.drawn = now;
    for (const chart of this.charts()) chart.draw();
  }

  // A picture of a state and nothing else, a JPEG in base64. camera: what viser's client is asked for.
  async picture(numbers, camera) {
    const drawn = new Promise(done => { stiction.received = message => message.type === "GetRenderResponseMessage" && done(message.payload); });
    this.receive(numbers);
    stiction.page.draw();
    const fov = uprightAngle(camera.fov, camera.width, camera.height);
    stiction.send([{ type: "GetRenderRequestMessage", format: "image/jpeg", quality: 95, render_uuid: "", ...camera, fov }]);
    return btoa(Array.from(await drawn, byte => String.fromCharCode(byte)).join(""));
  }
}
