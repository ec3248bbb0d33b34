// Curves over time on a canvas, with a cursor at the time that is shown. Pressing or dragging in it goes to that time; the wheel zooms.
const CURVES = ["#1268c8", "#e85600", "#2a8f3c", "#b000a0", "#8a6d00", "#00909a", "#c4243b", "#5b56c9", "#6b8e23", "#9c5a2b", "#3c6e8f", "#777", "#e377c2"];
const LEFT = 54, BOTTOM = 18, TOP = 6, RIGHT = 8;  // pixels around the axes

const PLAIN = 7;  // characters that the axis has room for: longer numbers are written with a power of ten

// A number with a power of ten, without zeros that say nothing.
function exponential(value, digits) {
  return value === 0 ? "0" : value.toExponential(digits).replace(/\.?0*e\+?/, "e");
}

// About `count` round numbers in [low, high], with labels of the digits of their step, so that each says where it is.
function ticks(low, high, count) {
  const raw = (high - low) / count, power = Math.floor(Math.log10(raw));
  const digit = [1, 2, 5, 10].find(digit => digit * 10 ** power >= raw * 0.999);
  const step = digit * 10 ** power;
  const last = power + (digit === 10 ? 1 : 0), values = [];  // last: power of ten of the last digit
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; ++k) values.push(k * step);
  const plain = values.map(value => (Math.abs(value) < 0.5 * step ? "0" : value.toFixed(Math.min(Math.max(0, -last), 100))));
  const fits = plain.every(label => label.length <= PLAIN);
  const digits = value => Math.min(Math.max(0, Math.floor(Math.log10(Math.abs(value)) + 1e-9) - last), 100);
  const label = (value, k) => (fits || plain[k] === "0" ? plain[k] : exponential(value, digits(value)));
  return values.map((value, k) => ({ value, label: label(value, k) }));
}

// Four significant digits.
function short(value) {
  const size = Math.abs(value);
  return size >= 1e4 || size < 1e-3 ? exponential(value, 3) : String(Number(value.toPrecision(4)));
}

function escaped(text) {
  return text.replace(/[&<>"]/g, letter => `&#${letter.charCodeAt(0)};`);
}

// Of the k-th name: beyond the chosen colours by the golden angle, which spreads hues however many there are.
function colorOf(k) {
  return CURVES[k] ?? `hsl(${(137.508 * k) % 360} 65% 38%)`;
}

class Chart {
  // runs: [{run, second, view, names, log, time, curves, readings}] of those that have this chart; the second's curves are dashed, and a
  // name has one colour in both. several: there are two runs on the page.
  constructor(parent, title, runs, several, player) {
    Object.assign(this, { title, runs, several, log: runs[0].log, player, range: null });
    this.names = [...new Set(runs.flatMap(run => run.names))];
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
    if (low === 0 && high === 0) return [0, 1];
    if (this.log) [low, high] = [Math.log10(low), Math.log10(high)];
    else if (low > 0 && low < 0.5 * high) low = 0;
    const margin = Math.max(0.06 * (high - low), this.log ? 0.2 : 0.02 * Math.max(Math.abs(high), Math.abs(low)));
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
    const powers = () => ticks(Math.ceil(low), high, 4).map(tick => tick.value).filter(k => Number.isInteger(k));
    const marks = this.log ? powers().map(k => ({ value: 10 ** k, label: exponential(10 ** k, 0) })) : ticks(low, high, 5);
    for (const { value, label } of marks) {
      context.fillStyle = "#e7eaee";
      context.fillRect(LEFT, Math.round(y(value)), width - LEFT - RIGHT, 1);
      context.fillStyle = "#59616c";
      context.fillText(label, LEFT - 5, y(value));
    }
    context.textAlign = "center";
    for (const { value, label } of ticks(this.from, this.to, 5)) {
      context.fillStyle = "#eff1f4";
      context.fillRect(Math.round(this.xOf(value)), TOP, 1, tall);
      context.fillStyle = "#59616c";
      const farthest = width - context.measureText(label).width / 2 - 1;  // at which all of it is seen
      context.fillText(label, Math.min(this.xOf(value), farthest), height - BOTTOM / 2);
    }
    context.save();
    context.beginPath();
    context.rect(LEFT, TOP, width - LEFT - RIGHT, tall);
    context.clip();
    context.lineJoin = "round";
    for (const { time, curves, names, second } of [...this.runs].reverse()) {  // the first on top
      context.setLineDash(second ? [4, 2] : []);
      curves.forEach((curve, k) => {
        const broad = names[k] === "simulated" && curves.length > 1;  // pale, below what was predicted of it
        context.lineWidth = broad ? 3 : 1.2;
        context.globalAlpha = (broad ? 0.45 : 1) * (second ? 0.5 : 1);
        context.strokeStyle = colorOf(this.names.indexOf(names[k]));
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
    for (const run of this.runs) {
      if (run.time.length === 0) continue;
      run.names.forEach((name, k) => {
        const value = this.reading(run, k);
        if (this.log && run.names.length > 1 && !(value > 0)) return;  // a logarithmic axis has no place for it
        const color = colorOf(this.names.indexOf(name)), label = escaped(this.several ? `${run.run}: ${name}` : name);
        const number = Number.isNaN(value) ? "–" : short(value);
        parts.push(`<i style="color:${color}">${run.second ? "┅" : "━"} ${label} <u>${number}</u></i>`);
      });
    }
    this.values.innerHTML = parts.join(" ");
  }

  // What the k-th curve of a run is in the state shown; NaN where no step led to it. Curves of long runs have the extremes of stretches:
  // the states' own numbers come beside them.
  reading({ view, time, curves, readings }, k) {
    const times = view.states.times, index = this.player.stateOf(times);
    if (readings) return readings[k][index];
    const at = lastUpTo(time, times[index]);
    return time[at] === times[index] ? curves[k][at] : NaN;
  }
}
