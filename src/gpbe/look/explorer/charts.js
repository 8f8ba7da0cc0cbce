"use strict";
// Drawing only: numbers come from Python. A chart is an SVG of 440 x 280 with two axes, and marks in their units.

const SPACE = { width: 440, height: 280, left: 52, right: 8, top: 8, bottom: 40 };
const COLOR = { behavior: "var(--blue)", target: "var(--sky)", emphatic: "var(--orange)" };

function node(name, attributes, parent, text) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  if (parent) parent.append(made);
  return made;
}

// Round numbers between two, at most about `most` of them.
function ticks(low, high, most = 6) {
  const rough = (high - low) / most, power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find(k => k * power >= rough);
  const found = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++) found.push(k * step);
  return found;
}

function written(x) {
  return Math.abs(x) < 1e-12 ? "0" : String(Number(x.toPrecision(4)));
}

class Chart {
  constructor(svg, x, y, labels, log = false) {
    Object.assign(this, { svg, log, x, y: log ? y.map(Math.log10) : y });
    svg.replaceChildren();
    svg.setAttribute("viewBox", `0 0 ${SPACE.width} ${SPACE.height}`);
    const { left, right, top, bottom, width, height } = SPACE;
    this.behind = node("g", {}, svg);
    const marks = log ? ticks(...this.y, 5).map(e => 10 ** e) : ticks(...y, 5);
    for (const value of marks) {
      const at = this.down(value);
      node("line", { class: "grid", x1: left, x2: width - right, y1: at, y2: at }, svg);
      node("text", { x: left - 6, y: at + 4, "text-anchor": "end" }, svg, written(value));
    }
    node("line", { class: "axis", x1: left, x2: left, y1: top, y2: height - bottom }, svg);
    node("line", { class: "axis", x1: left, x2: width - right, y1: height - bottom, y2: height - bottom }, svg);
    node("text", { x: (left + width - right) / 2, y: height - 4, "text-anchor": "middle" }, svg, labels[0]);
    const turned = `translate(12 ${(top + height - bottom) / 2}) rotate(-90)`;
    node("text", { transform: turned, "text-anchor": "middle" }, svg, labels[1]);
    this.front = node("g", {}, svg);
  }

  across(value) {
    const share = (value - this.x[0]) / (this.x[1] - this.x[0]);
    return SPACE.left + share * (SPACE.width - SPACE.left - SPACE.right);
  }

  down(value) {
    const share = ((this.log ? Math.log10(value) : value) - this.y[0]) / (this.y[1] - this.y[0]);
    return SPACE.height - SPACE.bottom - share * (SPACE.height - SPACE.top - SPACE.bottom);
  }

  numbers(values) {
    for (const value of values) {
      const at = { x: this.across(value), y: SPACE.height - SPACE.bottom + 15, "text-anchor": "middle" };
      node("text", at, this.front, written(value));
    }
  }

  line(points, color, width = 1.6, dashes = "") {
    const path = points.map(([x, y]) => `${this.across(x)},${this.down(y)}`).join(" ");
    const look = { fill: "none", "stroke-width": width, "stroke-dasharray": dashes, style: `stroke: ${color}` };
    node("polyline", { points: path, ...look }, this.front);
  }

  // A mark at a place; outside of the frame it stands at its edge, hollow.
  mark(shape, x, y, color, size = 4.5, title = "") {
    const [low, high] = this.log ? this.y.map(e => 10 ** e) : this.y;
    const inside = Math.min(Math.max(y, low), high);
    const made = drawn(shape, this.across(x), this.down(inside), size, color, inside !== y, this.front);
    if (title) node("title", {}, made, title);
  }
}

function drawn(shape, x, y, size, color, hollow, parent) {
  const look = { style: `stroke: ${color}; fill: ${hollow ? "none" : color}`, "stroke-width": 1.4 };
  if (shape === "--") {
    const ends = { x1: x - 2.4 * size, x2: x + 2.4 * size, y1: y, y2: y };
    return node("line", { ...ends, ...look, "stroke-dasharray": "5 3" }, parent);
  }
  const corners = {
    "^": [[0, -1.1], [1, 0.8], [-1, 0.8]],
    v: [[0, 1.1], [1, -0.8], [-1, -0.8]],
    s: [[-0.85, -0.85], [0.85, -0.85], [0.85, 0.85], [-0.85, 0.85]],
    D: [[0, -1.2], [1.2, 0], [0, 1.2], [-1.2, 0]],
    x: [[-1, -1], [0, -0.35], [1, -1], [0.35, 0], [1, 1], [0, 0.35], [-1, 1], [-0.35, 0]],
    _: [[-2.4, -0.25], [2.4, -0.25], [2.4, 0.25], [-2.4, 0.25]],
  }[shape];
  if (!corners) return node("circle", { cx: x, cy: y, r: size, ...look }, parent);
  const points = corners.map(([dx, dy]) => `${x + size * dx},${y + size * dy}`).join(" ");
  return node("polygon", { points, ...look }, parent);
}

function legend(svg, entries) {
  const place = svg.parentElement.querySelector(".legend");
  place.replaceChildren(...entries.map(([label, shape, color, hollow]) => {
    const entry = document.createElement("span"), sign = node("svg", { viewBox: "0 0 16 12" });
    const words = document.createElement("span");
    drawn(shape, 8, 6, ["_", "--"].includes(shape) ? 3 : 4.2, color, hollow, sign);
    words.append(...symbols(label));
    entry.append(sign, words);
    return entry;
  }));
}

// d_b with a lowered b, and so on.
function symbols(text) {
  return text.split(/([dv]_\w+)/).map(part => {
    const found = /^([dv])_(\w+)$/.exec(part);
    if (!found) return part;
    const whole = document.createElement("span"), low = document.createElement("sub");
    low.textContent = found[2] === "pi" ? "π" : found[2];
    whole.append(found[1], low);
    return whole;
  });
}
