// The clock of the page: time shown, playing, speed, the stretch of time that the plots show.
class Player {
  constructor() {
    Object.assign(this, { start: 0, end: 0, time: 0, playing: false, speed: 1, range: [0, 1], listeners: [], rangeListeners: [] });
    this.last = 0;
    this.frame = this.frame.bind(this);
  }

  // The run's first and last time. Plots that show all of it go on to, when they are next drawn.
  bound(start, end) {
    const whole = this.range[0] <= this.start && this.range[1] >= this.end;
    [this.start, this.end] = [start, Math.max(end, start + 1e-9)];
    if (whole) this.range = [this.start, this.end];
  }

  play() {
    if (this.playing) return;
    if (this.time >= this.end - 1e-9) this.time = this.start;
    this.playing = true;
    this.last = performance.now();
    requestAnimationFrame(this.frame);
    this.changed();
  }

  pause() {
    this.playing = false;
    this.changed();
  }

  toggle() { this.playing ? this.pause() : this.play(); }

  frame(now) {
    if (!this.playing) return;
    const passed = Math.max(now - this.last, 0) / 1000;
    this.last = now;
    this.time += passed * this.speed;
    if (this.time > this.end) this.time = this.start;
    this.changed();
    requestAnimationFrame(this.frame);
  }

  seek(time) {
    this.time = Math.min(Math.max(time, this.start), this.end);
    this.changed();
  }

  // Narrows or widens the plots around a time; null: the whole run.
  zoom(at, factor) {
    if (at === null) this.range = [this.start, this.end];
    else {
      const [from, to] = this.range;
      this.range = [Math.max(this.start, at + factor * (from - at)), Math.min(this.end, at + factor * (to - at))];
      if (this.range[1] - this.range[0] < 1e-4 * (this.end - this.start)) this.range = [from, to];
    }
    for (const listener of this.rangeListeners) listener();
  }

  // Index of the state that is shown, of those at these times.
  stateOf(times) { return lastUpTo(times, this.time + 1e-9); }

  changed() {
    for (const listener of this.listeners) listener();
  }
}
