// What the page is made of: the picture, the time-line, toggles, scales and plots, all of the time that the player shows.
const TOGGLES = {
  forces: ["Forces", true], cones: ["Friction cones", true], points: ["Contact points", true], center: ["Centre of mass", true],
  feet: ["Desired feet", true], visuals: ["Visual meshes", true], clear: ["See through", false], shadows: ["Shadows", true], follow: ["Follow", false],
  beside: ["Side by side", false],
};
const STEADY = 0.25;  // of what the camera sees: as far up or down as what fills that may go and be seen whole

// Whether no graphics processor draws: Chromium's SwiftShader, Mesa's llvmpipe and softpipe, Windows' basic renderer.
function drawnByProcessor() {
  const context = document.createElement("canvas").getContext("webgl2"), names = context?.getExtension("WEBGL_debug_renderer_info");
  const renderer = names ? context.getParameter(names.UNMASKED_RENDERER_WEBGL) : "";
  context?.getExtension("WEBGL_lose_context")?.loseContext();
  return /swiftshader|llvmpipe|softpipe|basic render/i.test(renderer);
}

class Page {
  constructor(content) {
    this.content = content;
    this.player = new Player();
    this.views = content.runs.map(run => new RunView(run, content));
    this.options = { scale: 1, run: true };
    this.charts = new Map();
    this.counts = { frames: 0, since: performance.now() };
    const runs = content.runs;
    const has = {
      feet: runs.some(run => run.targetNames.length > 0), visuals: runs.some(run => run.visual.length + run.tendons.length > 0), beside: runs.length > 1,
    };
    for (const key in TOGGLES) if (has[key] !== false) this.options[key] = TOGGLES[key][1];
    const still = document.body.classList.contains("plain") && !content.live;  // viser's client takes #plain out of the address
    if (drawnByProcessor() && !still) this.options.shadows = false;  // most of a picture's cost there; a still one has the time
    if (!content.live) this.options.follow = content.follows;
    this.bare = content.live && !content.live.controls;  // nothing to steer, and bodies are all that its states tell
    if (this.bare) Object.assign(this.options, { forces: false, cones: false, points: false, center: false, follow: content.live.follows });
    this.digits = Math.max(...runs.map(run => digitsOf(run.arrays.time)));
    this.build();
    this.player.listeners.push(() => this.request());
    this.player.rangeListeners.push(() => this.charts.forEach(chart => chart.draw()));
    this.player.bound(Math.min(...this.views.map(view => view.states.times[0])), Math.max(...this.views.map(view => view.states.times.at(-1))));
    this.player.seek(this.player.start);
    if (content.live) this.live = new Live(content, this.player, this.views[0], () => this.charts.values());
  }

  get(id) { return document.getElementById(id); }

  build() {
    const player = this.player, runs = this.content.runs;
    const said = run => run.end ? `${run.name}, ended at ${run.end}` : run.name;
    this.get("title").textContent = runs.map(said).join(" and ");
    if (this.bare) return document.body.classList.add("plain");
    this.tellLegend();
    this.get("play").onclick = () => (this.live ? this.live.run(!this.live.running) : player.toggle());
    this.get("back").onclick = () => this.step(-1);
    this.get("forth").onclick = () => this.step(1);
    this.get("line").oninput = event => { this.hold(); player.seek(Number(event.target.value)); };
    this.get("speed").onchange = event => {
      player.speed = Number(event.target.value);
      if (this.live) this.live.set({ speed: player.speed });
      event.target.blur();
    };
    for (const button of document.querySelectorAll("#bar button")) button.addEventListener("click", () => button.blur());
    for (const key in TOGGLES) if (key in this.options) this.chip(this.get("show"), TOGGLES[key][0], this.options[key], on => { this.options[key] = on; this.request(); });
    runs.slice(1).forEach((run, k) => this.chip(this.get("show"), run.name, true, on => { this.views[k + 1].hidden = !on; this.request(); }));
    this.slider();
    const titles = new Map(runs.flatMap(run => run.charts).map(chart => [chart.title, chart]));
    for (const [title, chart] of titles) this.chip(this.get("plots"), title.replace(/ \(.*\)/, ""), chart.shown, on => this.plot(title, on));
    if (innerWidth <= 720) document.querySelector("details").open = false;
    window.addEventListener("keydown", event => this.key(event), true);
  }

  chip(parent, text, on, action) {
    const chip = document.createElement("button");
    chip.className = "chip";
    chip.textContent = text;
    const set = value => { chip.setAttribute("aria-pressed", value); action(value); };
    chip.onclick = () => { set(chip.getAttribute("aria-pressed") !== "true"); chip.blur(); };
    parent.append(chip);
    set(on);
  }

  slider() {
    const label = document.createElement("span"), input = document.createElement("input");
    Object.assign(input, { type: "range", min: -3, max: 3, step: 0.5, value: 0, id: "scale" });
    const tell = () => { label.innerHTML = `Length of arrows and cones <b>${short(2 ** Number(input.value))}×</b>`; };
    tell();
    input.oninput = () => { this.options.scale = 2 ** Number(input.value); tell(); this.tellLegend(); this.request(); };
    this.get("scales").append(label, input);
  }

  tellLegend() {
    const css = color => `rgb(${color.join()})`;
    const dots = MODES.map(mode => `<i style="--dot:${css(mode.color)}">${mode.name}</i>`);
    if (this.content.runs.some(run => run.targetNames.length)) dots.push(`<i style="--dot:${css(DESIRED)}">desired foot</i>`);
    const { newtonsPerUnit, unit, longestArrow, weights } = this.content, scale = short(newtonsPerUnit / unit / this.options.scale);
    const longest = weights ? `${weights} weights` : `${short(longestArrow)} N`;
    this.get("legend").innerHTML = `${dots.join("")}<em>1 m of arrow = ${scale} N; beyond ${longest} cut, magenta</em>`;
  }

  plot(title, on) {
    if (!on) {
      this.charts.get(title)?.element.remove();
      this.charts.delete(title);
      return;
    }
    const runs = this.content.runs, found = runs.flatMap((run, k) => run.charts.filter(chart => chart.title === title).map(
      chart => Object.assign(chart, { run: run.name, second: k > 0, view: this.views[k] })));
    const chart = new Chart(this.get("charts"), title, found, runs.length > 1, this.player);
    this.charts.set(title, chart);
    const order = [...new Set(this.content.runs.flatMap(run => run.charts.map(other => other.title)))];
    for (const other of order) if (this.charts.has(other)) this.get("charts").append(this.charts.get(other).element);
    chart.draw();
  }

  hold() { this.live ? this.live.run(false) : this.player.pause(); }

  // To the state `count` further on than the one shown.
  step(count) {
    const times = this.views[0].states.times, index = this.player.stateOf(times) + count;
    if (this.live && index >= times.length) return this.live.say({ step: true });
    this.hold();
    this.player.seek(times[Math.min(Math.max(index, 0), times.length - 1)]);
  }

  key(event) {
    if (event.target.matches?.("input:not([type=range]), select, textarea") || event.ctrlKey || event.metaKey || event.altKey) return;
    const many = event.shiftKey ? 10 : 1;
    const actions = {
      " ": () => this.get("play").onclick(), ArrowLeft: () => this.step(-many), ArrowRight: () => this.step(many),
      Home: () => this.player.seek(this.player.start), End: () => this.player.seek(this.player.end),
    };
    if (!(event.key in actions)) return;
    event.preventDefault();
    event.stopImmediatePropagation();  // viser's client would move the camera
    actions[event.key]();
  }

  // Draws once per frame of the screen, however often the time changes.
  request() {
    if (this.requested) return;
    this.requested = true;
    requestAnimationFrame(() => { this.requested = false; this.draw(); });
  }

  // Where a run stands: under the camera if it is followed, beside the first if they are compared so. Heights are followed beyond STEADY
  // alone, lest the ground go up and down with every step of a robot.
  place(view, index, k) {
    const center = view.states.at(index).center, start = this.views[0].states.center;  // of the recorded states: those received are forgotten
    const [x, y, z] = [0, 1, 2].map(axis => start[axis] - center[axis]), steady = STEADY * this.content.extent;
    const moved = this.options.follow ? [x, y, z - Math.min(Math.max(z, -steady), steady)] : [0, 0, 0];
    if (this.options.beside && k > 0) moved[1] += 1.2 * this.content.size;
    return moved;
  }

  draw() {
    const { player, views } = this, messages = [];
    views.forEach((view, k) => {
      const index = player.stateOf(view.states.times), leader = this.options.beside ? view : views[0];
      view.moved = this.place(leader, player.stateOf(leader.states.times), k);
      messages.push(...view.show(index, { ...this.options, run: !view.hidden }, view.moved));
    });
    if (this.shadows !== this.options.shadows) {
      this.shadows = this.options.shadows;
      messages.push({ type: "EnableLightsMessage", enabled: true, cast_shadow: this.shadows });
    }
    stiction.send(messages);
    ++this.counts.frames;
    const line = this.get("line");
    Object.assign(line, { min: player.start, max: player.end, value: player.time });
    this.get("clock").textContent = `${player.time.toFixed(this.digits)} / ${player.end.toFixed(this.digits)} s`;
    this.get("play").textContent = (this.live ? this.live.running : player.playing) ? "❚❚" : "▶";
    for (const chart of this.charts.values()) chart.drawCursor();
  }
}

// Decimals of the clock: those of milliseconds, or of the step if it has more, two digits of one that is not round.
function digitsOf(times) {
  const step = times.length > 1 ? times[1] - times[0] : 1;
  const whole = digits => step * 10 ** digits > 0.5 && Math.abs(step * 10 ** digits - Math.round(step * 10 ** digits)) < 1e-6;
  let digits = 3;
  while (!whole(digits) && digits < 1 - Math.log10(step)) ++digits;
  return Math.min(digits, 12);  // what times of seconds are told apart by in double precision, and to spare
}

// The camera's upright angle (rad): the one given, wider in an upright picture, in which what is as wide as high stays whole.
function uprightAngle(angle, width, height) {
  return 2 * Math.atan(Math.max(1, height / width) * Math.tan(angle / 2));
}

document.addEventListener("DOMContentLoaded", async () => {
  if (location.hash === "#plain") document.body.classList.add("plain");
  const content = await loadContent();
  await stiction.ready;
  const root = document.getElementById("root"), camera = content.messages.find(message => message.type === "SetCameraFovMessage");
  camera.fov = uprightAngle(camera.fov, root.clientWidth, root.clientHeight);
  stiction.send(content.messages);
  stiction.page = new Page(content);
});
