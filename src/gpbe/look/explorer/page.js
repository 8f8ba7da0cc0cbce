// What a person has changed is sent to the server, which answers with numbers and parts of the page.

const CURVES = [
  ["v_pi", "", "v_pi", "_", "currentColor"],
  ["ve", "behavior", "VE, d_b (best)", "D", "var(--faint)"],
  ["pbe", "behavior", "PBE, d_b (TD, TDRC)", "o", COLOR.behavior],
  ["pbe", "target", "PBE, d_pi", "v", COLOR.target],
  ["pbe", "emphatic", "PBE, m (emphatic)", "^", COLOR.emphatic],
  ["be", "behavior", "BE, d_b", "s", "var(--green)"],
  ["tde", "behavior", "TDE, d_b", "x", "var(--red)"],
];
const METHODS = [
  ["behavior", "off-policy TD, d_b", "o", "behavior, d_b"],
  ["target", "alternative-life TD, d_pi", "v", "target, d_pi"],
  ["emphatic", "ETD, m", "^", "emphatic, m"],
];
const $ = id => document.getElementById(id);
const ALL = -1;
let base, now, chosen = ALL, busy = false, waiting = false, last = null;

async function ask(path, body) {
  const sent = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
  const answer = await fetch(path, sent);
  if (!answer.ok) throw new Error((await answer.json()).error);
  return answer;
}

async function start(name) {
  base = await (await ask(`problem${name ? `?name=${encodeURIComponent(name)}` : ""}`)).json();
  now = { problem: base.name, lam: 0, discount: base.discount };
  for (const key of ["target", "behavior", "features"]) now[key] = base[key].map(row => [...row]);
  chosen = ALL;
  options($("problem"), base.problems.map(each => [each, each]), now.problem);
  options($("state"), [[ALL, "all states"], ...base.states.map((each, s) => [s, `state ${each}`])], chosen);
  controls();
  refresh();
}

function options(select, entries, value) {
  select.replaceChildren(...entries.map(([key, label]) => new Option(label, key, false, String(key) === String(value))));
}

// One request at a time; what changes meanwhile is sent when it is answered.
async function refresh() {
  if (busy) { waiting = true; return; }
  busy = true;
  document.body.dataset.settled = "no";
  try {
    const body = { ...now, bounds: $("bounding").open };
    show(await (await ask("solve", body)).json());
    problemWith("");
  } catch (error) {
    problemWith(error instanceof TypeError ? "the server has gone; start gpbe explore again" : error.message);
  }
  busy = false;
  if (waiting) { waiting = false; refresh(); } else document.body.dataset.settled = "yes";
}

function problemWith(message) {
  $("error").textContent = message;
  $("error").hidden = !message;
  $("results").classList.toggle("stale", Boolean(message));
  $("verdicts").classList.toggle("stale", Boolean(message));
}

// A slider with a field beside it that says and takes the number.
function control(parent, id, label, value, [low, high, step], change) {
  const row = document.createElement("div"), name = document.createElement("label");
  const range = document.createElement("input"), number = document.createElement("input");
  row.className = "row";
  Object.assign(name, { textContent: label, title: label, htmlFor: id });
  Object.assign(range, { type: "range", id, min: low, max: high, step });
  Object.assign(number, { type: "number", step: "any" });
  number.setAttribute("aria-label", `${label}, as a number`);
  range.value = value;
  number.value = written(value);
  const take = from => {
    if (from.value === "" || Number.isNaN(Number(from.value))) return;
    change(Number(from.value));
    sync();
    refresh();
  };
  range.addEventListener("input", () => take(range));
  number.addEventListener("change", () => take(number));
  row.append(name, range, number);
  parent.append(row);
  return current => {
    range.value = current;
    if (document.activeElement !== number) number.value = written(current);
  };
}

let readings = [];
function sync() { for (const [set, read] of readings) set(read()); }

function controls() {
  readings = [];
  const add = (place, id, label, span, read, change) =>
    readings.push([control($(place), id, label, read(), span, change), read]);
  for (const place of ["everywhere", "target", "behavior", "features"]) $(place).replaceChildren();
  add("everywhere", "lam", "λ (traces)", [0, 1, 0.01], () => now.lam, x => { now.lam = x; });
  if (base.discount > 0)
    add("everywhere", "discount", "discount γ", [0, 1, 0.01], () => now.discount, x => { now.discount = x; });
  for (const policy of ["target", "behavior"])
    base.actions.forEach((action, a) =>
      add(policy, `${policy}-${a}`, action, [0, 1, 0.01], () => mean(states().map(s => now[policy][s][a])), p => {
        for (const s of states()) now[policy][s] = moved(now[policy][s], a, p);
      }));
  const most = Math.max(1, Math.ceil(2 * Math.max(...base.features.flat().map(Math.abs))));
  $("more").hidden = chosen === ALL;
  if (chosen !== ALL)
    now.features[chosen].forEach((_, k) =>
      add("features", `feature-${k}`, `x${k + 1}`, [-most, most, most / 200], () => now.features[chosen][k], x => {
        now.features[chosen][k] = x;
      }));
}

function states() { return chosen === ALL ? base.states.map((_, s) => s) : [chosen]; }
function mean(numbers) { return numbers.reduce((a, b) => a + b, 0) / numbers.length; }

// One probability is set; the others keep their proportions.
function moved(row, a, p) {
  const rest = 1 - row[a];
  if (row.length === 1) return [1];
  return row.map((q, i) => (i === a ? p : rest > 1e-12 ? (q * (1 - p)) / rest : (1 - p) / (row.length - 1)));
}

function show(found) {
  last = found;
  for (const [id, html] of Object.entries(found.html)) $(id).innerHTML = html;
  const curves = CURVES.map(([objective, weighting, ...look]) => [objective === "v_pi" ? found.values
    : found.solutions.find(each => each.objective === objective && each.weighting === weighting).values, ...look]);
  values(curves, found.values);
  visits(found.weightings);
  eigenvalues(found.td);
  lambdas(found);
}

function overStates(id, y, label) {
  const count = base.states.length, chart = new Chart($(id), [-0.6, count - 0.4], y, ["state", label]);
  const width = chart.across(1) - chart.across(0), each = Math.ceil(count / 12);
  base.states.forEach((name, s) => {
    const x = chart.across(s - 0.5), { top, height, bottom } = SPACE;
    const area = { x, y: top, width, height: height - top - bottom };
    if (s === chosen) node("rect", { class: "chosen", ...area }, chart.behind);
    const most = Math.max(2, Math.floor((each * width) / 7));
    const short = name.length > most ? `${name.slice(0, most - 1)}…` : name;
    if (s % each === 0)
      node("text", { x: x + width / 2, y: height - bottom + 15, "text-anchor": "middle" }, chart.front, short);
    const pick = node("rect", { class: "pick", ...area }, chart.svg);
    node("title", {}, pick, `state ${name}`);
    pick.addEventListener("click", () => choose(s === chosen ? ALL : s));
  });
  return chart;
}

function choose(s) {
  chosen = s;
  $("state").value = s;
  controls();
  if (last) show(last);
}

function values(curves, truth) {
  const low = Math.min(...truth), high = Math.max(...truth), span = Math.max(high - low, Math.abs(low), Math.abs(high), 0.1);
  const all = curves.flatMap(([numbers]) => numbers);
  const bottom = Math.max(Math.min(...all), low - 4 * span), top = Math.min(Math.max(...all), high + 4 * span);
  const margin = 0.06 * (top - bottom) || 0.5;
  const chart = overStates("values", [bottom - margin, top + margin], "value");
  const few = base.states.length <= 24;
  curves.forEach(([numbers, label, shape, color], k) => {
    if (!few) chart.line(numbers.map((v, s) => [s, Math.min(Math.max(v, bottom), top)]), color, k ? 1.3 : 3);
    else if (k) numbers.forEach((v, s) => chart.mark(shape, s + 0.1 * (k - 3.5), v, color, 3.6, `${label}: ${written(v)}`));
    else numbers.forEach((v, s) => chart.line([[s - 0.42, v], [s + 0.42, v]], color, 2.5));
  });
  legend($("values"), curves.map(([, label, shape, color]) => [label, shape, color]));
}

function visits(weightings) {
  const chart = overStates("visits", [0, 1.05 * Math.max(...Object.values(weightings).flat())], "share");
  const few = base.states.length <= 24;
  METHODS.forEach(([name], k) => {
    if (!few) return chart.line(weightings[name].map((d, s) => [s, d]), COLOR[name]);
    weightings[name].forEach((d, s) => {
      const x = chart.across(s + 0.27 * (k - 1) - 0.125), y = chart.down(d);
      const width = chart.across(0.25) - chart.across(0);
      node("rect", { x, y, width, height: chart.down(0) - y, style: `fill: ${COLOR[name]}` }, chart.front);
    });
  });
  legend($("visits"), METHODS.map(([name, , , label]) => [label, "s", COLOR[name]]));
}

// The largest eigenvalue of each weighting is at distance 1.
function eigenvalues(td) {
  const all = METHODS.map(([name, , shape]) => {
    const found = td[name].eigenvalues, size = Math.max(...found.map(([a, b]) => Math.hypot(a, b)), 1e-300);
    return [name, shape, found.map(([a, b]) => [a / size, b / size])];
  });
  const reals = all.flatMap(([, , found]) => found.map(([a]) => a)), low = Math.min(0, ...reals), high = Math.max(0, ...reals);
  const margin = 0.08 * (high - low) || 1;
  const tall = Math.max(1.15 * Math.max(...all.flatMap(([, , found]) => found.map(([, b]) => Math.abs(b)))), 0.25 * (high - low));
  const x = [low - 2 * margin, high + margin], labels = ["real part, over the largest (left of 0: errors grow)", "imaginary part"];
  const chart = new Chart($("eigenvalues"), x, [-tall, tall], labels);
  const zero = chart.across(0), { left, top, height, bottom } = SPACE;
  node("rect", { class: "bad", x: left, y: top, width: zero - left, height: height - top - bottom }, chart.behind);
  node("line", { class: "axis", x1: zero, x2: zero, y1: top, y2: height - bottom }, chart.front);
  chart.numbers(ticks(...x));
  for (const [name, shape, found] of all)
    for (const [a, b] of found) {
      const hollow = name === "behavior";
      drawn(shape, chart.across(a), chart.down(b), hollow ? 6 : 4, COLOR[name], hollow, chart.front);
    }
  legend($("eigenvalues"), METHODS.map(([name, label, shape]) => [`${label}: ${td[name].verdict}`, shape, COLOR[name], name === "behavior"]));
}

function lambdas(found) {
  const { lambdas: tried, errors, best } = found.over_lambda;
  const small = 1e-10 * Math.max(1e-300, ...found.values.map(Math.abs)), shown = x => (x <= small ? 0 : x);
  const all = [best, ...Object.values(errors).flat()].filter(x => x !== null).map(shown);
  const low = Math.min(...all), high = Math.max(...all), log = low > 0 && high > 30 * low;
  const y = log ? [low / 1.3, high * 1.3] : [-0.04 * (high || 1), 1.1 * (high || 1)];
  const chart = new Chart($("lambdas"), [-0.03, 1.03], y, ["λ", "RMS value error, under the behavior"], log);
  chart.numbers([0, 0.2, 0.4, 0.6, 0.8, 1]);
  const at = chart.across(now.lam), { top, height, bottom } = SPACE;
  node("line", { class: "axis", x1: at, x2: at, y1: top, y2: height - bottom, "stroke-dasharray": "2 3" }, chart.front);
  chart.line([[0, shown(best)], [1, shown(best)]], "var(--faint)", 1.2, "5 3");
  for (const [name, , shape] of METHODS) {
    const points = tried.map((lam, k) => [lam, errors[name][k]]).filter(([, e]) => e !== null).map(([lam, e]) => [lam, shown(e)]);
    chart.line(points, COLOR[name]);
    for (const [lam, e] of points) {
      chart.mark(shape, lam, e, COLOR[name], 3, `${name}, λ = ${lam}: ${written(e)}`);
      if (name === "behavior" && !found.converging_lambdas.includes(lam))
        drawn("o", chart.across(lam), chart.down(e), 6, COLOR[name], true, chart.front);
    }
  }
  legend($("lambdas"), [...METHODS.map(([name, label, shape]) => [label, shape, COLOR[name]]),
    ["off-policy TD diverges", "o", COLOR.behavior, true], ["best possible", "--", "var(--faint)"]]);
}

async function save() {
  try {
    const text = await (await ask("problem.toml", now)).blob(), link = document.createElement("a");
    link.href = URL.createObjectURL(text);
    link.download = `${now.problem.replace(/[^\w-]+/g, "-")}-changed.toml`;
    link.click();
    URL.revokeObjectURL(link.href);
  } catch (error) { problemWith(error.message); }
}

$("problem").addEventListener("change", event => start(event.target.value).catch(error => problemWith(error.message)));
$("state").addEventListener("change", event => choose(Number(event.target.value)));
$("reset").addEventListener("click", () => start(now.problem));
$("save").addEventListener("click", save);
$("bounding").addEventListener("toggle", refresh);
$("controls").addEventListener("submit", event => event.preventDefault());
start().catch(error => problemWith(error.message));
