// What goes on while it is looked at: its server (stiction/live.py) sends states, this sends what the person does.
const KEPT = 3000;  // states that can be scrubbed back to: 100 s at 30 per second

class Live {
  constructor(content, player, view, charts) {
    Object.assign(this, { content, player, view, charts, running: true, controls: content.live.controls });
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
      if (typeof event.data === "string") this.told(event.data);
      else this.receive(new Float32Array(event.data));
    };
    this.socket.onclose = () => { document.getElementById("legend").innerHTML = "<em>the simulation has ended</em>"; };
  }

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
    this.told("");
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
      const hold = button("Hold joints", () => {
        this.held = !this.held;
        hold.setAttribute("aria-pressed", this.held);
        this.say({ hold: this.held });
      });
      this.held = true;
      hold.className = "chip";
      hold.setAttribute("aria-pressed", true);
    }
    const label = document.createElement("span"), friction = document.createElement("input");
    const tell = value => { label.innerHTML = `Friction of all contacts <b>${value}</b>`; };
    tell("as in the scene");
    Object.assign(friction, { type: "range", min: 0, max: 1.5, step: 0.01, value: 0.5, id: "friction" });
    friction.oninput = () => { tell(friction.value); this.say({ friction: Number(friction.value) }); };
    section.append(label, friction);
  }

  // Why the simulation stands still; "": it does not.
  told(notice) {
    if (!this.title) return;
    this.title.textContent = notice || "Running simulation: drag a body to push it";
    if (notice) [this.running, this.runButton.textContent] = [false, "Run"];
  }

  run(on) {
    this.running = on;
    this.runButton.textContent = on ? "Pause" : "Run";
    this.say({ run: on });
  }

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
