// What the page carries: a header in JSON and the arrays that it points into (stiction/page.py writes them).
const ARRAYS = {
  "<f4": Float32Array, "<f8": Float64Array, "|u1": Uint8Array, "<u2": Uint16Array, "<u4": Uint32Array, "|i1": Int8Array, "<i4": Int32Array,
};

async function loadContent() {
  const bytes = Uint8Array.from(atob(document.getElementById("stiction-data").textContent), c => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  const buffer = await new Response(stream).arrayBuffer();
  const length = Number(new DataView(buffer).getBigUint64(0, true));
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 8, length)));
  const view = (at, dtype) => new ARRAYS[dtype](buffer, 8 + length + at.offset, at.bytes / ARRAYS[dtype].BYTES_PER_ELEMENT);
  const restore = value => {
    if (Array.isArray(value)) return value.map(restore);
    if (value === null || typeof value !== "object") return value;
    if ("__binary_index" in value) return view(header.buffers[value.__binary_index], value.dtype);
    return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, restore(entry)]));
  };
  header.messages = restore(header.messages);
  for (const run of header.runs) {
    for (const key in run.arrays) run.arrays[key] = view(run.arrays[key], run.arrays[key].dtype);
    for (const chart of run.charts) {
      const time = view(chart.time, chart.time.dtype), values = view(chart.values, chart.values.dtype);
      const rows = (array, length) => chart.names.map((_, k) => array.subarray(k * length, (k + 1) * length));
      chart.time = time;
      chart.curves = rows(values, time.length);
      if (chart.readings) chart.readings = rows(view(chart.readings, chart.readings.dtype), run.arrays.time.length);
    }
  }
  return header;
}

// The index of the last entry of an ascending array that is not above x; 0 where there is none.
function lastUpTo(array, x) {
  let low = 0, high = array.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (array[middle] <= x) low = middle;
    else high = middle - 1;
  }
  return low;
}

// A run's states: of a recording as it came, of a running simulation what it sent, the oldest forgotten.
class States {
  constructor(run) {
    Object.assign(this, run.arrays);
    this.bodies = run.nodes.length;
    this.aims = run.targetNames.length;
    this.received = null;
  }

  get times() { return this.received ? this.receivedTimes : this.time; }

  // time (s); poses (7 per body: position, quaternion w x y z); center (3); per contact points, forces, normals (3), mu, modes; targets, reached
  at(index) {
    if (this.received) return this.received[index];
    const from = this.offsets[index], to = this.offsets[index + 1], aims = 3 * this.aims;
    const rows = (array, width) => array.subarray(width * from, width * to);
    return {
      time: this.time[index], count: to - from,
      poses: this.poses.subarray(7 * this.bodies * index, 7 * this.bodies * (index + 1)),
      center: this.center.subarray(3 * index, 3 * index + 3),
      points: rows(this.points, 3), forces: rows(this.forces, 3), normals: rows(this.normals, 3),
      mu: rows(this.mu, 1), modes: rows(this.modes, 1),
      targets: this.targets.subarray(aims * index, aims * (index + 1)), reached: this.reached.subarray(aims * index, aims * (index + 1)),
    };
  }

  // A state of a running simulation. keep: how many.
  push(state, keep) {
    if (!this.received) [this.received, this.receivedTimes] = [[], []];
    if (this.received.length >= keep) {
      this.received.splice(0, keep >> 2);
      this.receivedTimes.splice(0, keep >> 2);
    }
    this.received.push(state);
    this.receivedTimes.push(state.time);
  }

  forget() { [this.received, this.receivedTimes] = [[], []]; }
}
