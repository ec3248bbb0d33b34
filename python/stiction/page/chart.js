// Curves over time on a canvas, with a cursor at the time that is shown. Pressing or dragging in it goes to that time; the wheel zooms.
const CURVES = ["#1268c8", "#e85600", "#2a8f3c", "#b000a0", "#8a6d00", "#00909a", "#c4243b", "#5b56c9", "#6b8e23", "#9c5a2b", "#3c6e8f", "#777", "#e377c2"];
const LEFT = 46, BOTTOM = 18, TOP = 6, RIGHT = 8;  // pixels around the axes

// About `count` round numbers in [low, high].
function ticks(low, high, count) {
  const raw = (high - low) / count, power = 10 ** Math.floor(Math.log10(raw));
  const step = power * [1, 2, 5, 10].find(digit => digit * power >= raw * 0.999);
  const out = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; ++k) out.push(k * step);
  return out;
}

function short(value) {
  if (value === 0) return "0";
  const size = Math.abs(value);
  return size >= 1e4 || size < 1e-3 ? value.toExponential(size >= 1e4 ? 1 : 0).replace("e+", "e") : String(Number(value.toPrecision(4)));
}

class Chart {
  // runs: [{name, time, curves}], one per run that has this chart; the second run's curves are dashed.
  constructor(parent, title, names, log, player) {
    Object.assign(this, { title, names, log, player, runs: [], range: null });
    this.element = document.createElement("figure");
    this.element.className = "chart";
    this.element.innerHTML = "<figcaption><b></b><span></span></figcaption><div><canvas></canvas><hr></div>";
    this.element.querySelector("b").textContent = title;
    this.values = this.element.querySelector("span");
    [this.canvas, this.cursor] = this.element.querySelector("div").children;
    parent.append(this.element);
    const seek = event => player.seek(this.timeAt(event.clientX - this.canvas.getBoundingClientRect().left));
    this.canvas.addEventListener("pointerdown", event => {
      this.canvas.setPointerCapture(event.pointerId);
      player.pause();
      seek(event);
    });
    this.canvas.addEventListener("pointermove", event => event.buttons && seek(event));
    this.canvas.addEventListener("wheel", event => {
      if (!event.ctrlKey && !event.shiftKey) return;
      event.preventDefault();
      const at = this.timeAt(event.clientX - this.canvas.getBoundingClientRect().left);
      player.zoom(at, Math.exp(0.002 * (event.deltaY || event.deltaX)));
    }, { passive: false });
    this.canvas.addEventListener("dblclick", () => player.zoom(null));
    new ResizeObserver(() => this.draw()).observe(this.canvas);  // not the whole: its numbers wrap otherwise in every picture
  }

  get wide() { return Math.max(this.canvas.clientWidth - LEFT - RIGHT, 1); }
  timeAt(x) { return this.from + (this.to - this.from) * Math.min(Math.max((x - LEFT) / this.wide, 0), 1); }
  xOf(time) { return LEFT + this.wide * (time - this.from) / (this.to - this.from); }

  // The canvas, wiped.
  context() {
    const { canvas } = this, ratio = window.devicePixelRatio || 1, width = canvas.clientWidth, height = canvas.clientHeight;
    canvas.width = Math.max(1, Math.round(ratio * width));
    canvas.height = Math.max(1, Math.round(ratio * height));
    const context = canvas.getContext("2d");
    context.scale(ratio, ratio);
    return [context, width, height];
  }

  // Least and largest value in sight, a little wider.
  limits() {
    let low = Infinity, high = -Infinity;
    for (const { time, curves } of this.runs) {
      for (let k = lastUpTo(time, this.from); k < time.length && time[k] <= this.to; ++k) {
        for (const curve of curves) {
          const value = curve[k];
          if (this.log && !(value > 0)) continue;
          if (value < low) low = value;
          if (value > high) high = value;
        }
      }
    }
    if (!(low <= high)) return this.log ? [-1, 0] : [0, 1];
    if (this.log) [low, high] = [Math.log10(low), Math.log10(high)];
    else if (low > 0 && low < 0.5 * high) low = 0;
    const margin = Math.max(0.06 * (high - low), this.log ? 0.2 : 1e-9 + 0.02 * Math.max(Math.abs(high), Math.abs(low)));
    return [low === 0 && !this.log ? 0 : low - margin, high + margin];
  }

  draw() {
    if (this.element.offsetParent === null) return;
    [this.from, this.to] = this.player.range;
    const [context, width, height] = this.context();
    const [low, high] = this.limits(), tall = height - TOP - BOTTOM;
    const y = value => TOP + tall * (high - (this.log ? Math.log10(value) : value)) / (high - low);
    this.yOf = y;
    context.font = "10.5px system-ui, sans-serif";
    context.textBaseline = "middle";
    context.textAlign = "right";
    const marks = this.log ? ticks(Math.ceil(low), high, 4).filter(k => Number.isInteger(k)).map(k => 10 ** k) : ticks(low, high, 5);
    for (const mark of marks) {
      context.fillStyle = "#e7eaee";
      context.fillRect(LEFT, Math.round(y(mark)), width - LEFT - RIGHT, 1);
      context.fillStyle = "#59616c";
      context.fillText(this.log ? mark.toExponential(0).replace("e+", "e") : short(mark), LEFT - 5, y(mark));
    }
    context.textAlign = "center";
    for (const mark of ticks(this.from, this.to, 5)) {
      context.fillStyle = "#eff1f4";
      context.fillRect(Math.round(this.xOf(mark)), TOP, 1, tall);
      context.fillStyle = "#59616c";
      context.fillText(short(Number(mark.toPrecision(6))), this.xOf(mark), height - BOTTOM / 2);
    }
    context.save();
    context.beginPath();
    context.rect(LEFT, TOP, width - LEFT - RIGHT, tall);
    context.clip();
    context.lineJoin = "round";
    for (let run = this.runs.length - 1; run >= 0; --run) {  // the first on top
      const { time, curves } = this.runs[run];
      context.setLineDash(run > 0 ? [4, 2] : []);
      curves.forEach((curve, k) => {
        const broad = this.names[k] === "simulated" && curves.length > 1;  // pale, below what was predicted of it
        context.lineWidth = broad ? 3 : 1.2;
        context.globalAlpha = (broad ? 0.45 : 1) * (run > 0 ? 0.5 : 1);
        context.strokeStyle = CURVES[k % CURVES.length];
        context.beginPath();
        let pen = false;
        const first = Math.max(lastUpTo(time, this.from) - 1, 0);
        for (let i = first; i < time.length && (i === 0 || time[i - 1] <= this.to); ++i) {
          if (this.log && !(curve[i] > 0)) { pen = false; continue; }
          context[pen ? "lineTo" : "moveTo"](this.xOf(time[i]), y(curve[i]));
          pen = true;
        }
        context.stroke();
        if (time.length === 1 && pen) {  // one step alone draws no line
          context.fillStyle = context.strokeStyle;
          context.fillRect(this.xOf(time[0]) - 2, y(curve[0]) - 2, 4, 4);
        }
      });
    }
    context.globalAlpha = 1;
    context.restore();
    this.drawCursor();
  }

  drawCursor() {
    if (!this.yOf || this.element.offsetParent === null) return;
    const x = this.xOf(this.player.time);
    this.cursor.hidden = x < LEFT - 1 || x > LEFT + this.wide + 1;
    this.cursor.style.transform = `translateX(${x - 0.5}px)`;
    const parts = [];
    const several = this.runs.length > 1;
    this.runs.forEach(({ time, curves, run: name }, run) => {
      if (time.length === 0) return;
      const at = lastUpTo(time, this.player.time + 1e-9);
      const label = k => (several ? (curves.length > 1 ? `${name}: ${this.names[k]}` : name) : this.names[k]);
      curves.forEach((curve, k) => {
        if (this.log && curves.length > 1 && !(curve[at] > 0)) return;  // a logarithmic axis has no place for it
        const color = CURVES[k % CURVES.length];
        parts.push(`<i style="color:${color}">${run > 0 ? "┅" : "━"} ${label(k)} <u>${short(curve[at])}</u></i>`);
      });
    });
    this.values.innerHTML = parts.join(" ");
  }
}
