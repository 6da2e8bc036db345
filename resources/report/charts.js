// Draws the charts of a report from the data in the page. See app/export/live_charts.py.
"use strict";
(() => {
const root = document.getElementById("live");
let data = JSON.parse(document.getElementById("data").textContent);
const NAMES = { p50: "p50", p90: "p90", p99: "p99", p999: "p99.9", max: "maximum", mean: "mean" };
const ORDER = Object.keys(NAMES);
const HEIGHTS = { replies: 330, time: 250, errors: 150, metric: 150 };
const NARROW = 640, NEAREST_PX = 24, ROOM_PX = 7;
const BAR_PX = 72, BAR_SHARE = 0.56, FAR = 2, FONT = "12px system-ui, sans-serif";

const dark = matchMedia("(prefers-color-scheme: dark)");
const shown = { sheet: 0, percentile: data.percentile, hidden: new Set(), log: true, theme: "" };
let plots = [], zoom = data.zoom;

const make = (tag, properties = {}, ...children) => {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
};
const token = (name) => getComputedStyle(root).getPropertyValue(`--${name}`).trim();
const isDark = () => (shown.theme ? shown.theme === "dark" : dark.matches);
const colour = (server) => server.colours[isDark() ? 1 : 0];
const figure = (value) => {
  const size = Math.abs(value);
  if (size >= 1e6) return `${+(value / 1e6).toPrecision(4)} M`;
  if (size >= 100 || value === Math.round(value)) return Math.round(value).toLocaleString("en");
  return `${+value.toPrecision(3)}`;
};
const duration = (ms) => (ms >= 1000 ? `${figure(ms / 1000)} s` : ms >= 1 ? `${figure(ms)} ms`
  : `${figure(ms * 1000)} µs`);
const text = (chart, value) => (value == null ? "–" : chart.key === "time" ? duration(value)
  : chart.key === "errors" ? `${figure(value)} %` : chart.key === "metric" ? `${figure(value)} ${chart.unit}`
  : `${figure(value)}/s`);
const at = (sheet, x) => {
  if (sheet.key === "distribution") return `p${+(100 * (1 - 1 / x)).toPrecision(6)}`;
  return figure(x) + (sheet.across.suffix || "");
};

function lineOf(chart, server) {
  const lines = chart.lines[server.key] || {};
  const line = lines[shown.percentile] || lines[data.percentile] || Object.values(lines)[0] || { x: [], y: [], marks: "" };
  return isBars(sheetNow()) ? { ...line, x: line.x.map(() => placeOf(server.key)) } : line;
}

// Beside published means bars are means, whatever percentile is chosen.
function percentileOf(chart) {
  const known = Object.keys(Object.values(chart.lines)[0] || {});
  return NAMES[known.includes(shown.percentile) ? shown.percentile : known[0]] || "";
}

const isBars = (sheet) => sheet.key === "servers";
// The places of bars, from the left, with name and key: a hidden one leaves no gap.
const places = () => sheetNow().across.marks.filter(([, , key]) => !shown.hidden.has(key))
  .map(([, name, key], n) => [n + 0.5, name, key]);
const placeOf = (server) => (places().find(([, , key]) => key === server) || [-1])[0];
const placePx = (plot) => plot.valToPos(1, "x", true) - plot.valToPos(0, "x", true);
const barPx = (plot) => Math.min(BAR_PX * devicePixelRatio, BAR_SHARE * placePx(plot));
const ruler = make("canvas").getContext("2d");
const widthOf = (words) => { ruler.font = FONT; return ruler.measureText(words).width; };
function cut(words, room) {
  let left = words.length;
  while (left > 1 && widthOf(words.slice(0, left) + (left < words.length ? "…" : "")) > room) left -= 1;
  return left < words.length ? `${words.slice(0, left)}…` : words;
}

// One table for uPlot: all x of all servers. What a server was not measured at is undefined, over
// which its line goes on; null is a gap.
function joined(chart, servers) {
  const tables = servers.map((server) => {
    const line = lineOf(chart, server);
    const y = chart.log && shown.log ? line.y.map((v) => (v > 0 ? v : null)) : line.y;
    return [line.x, y];
  });
  return tables.some(([x]) => x.length) ? uPlot.join(tables) : [[], ...tables.map(() => [])];
}

// A line by itself, not by uPlot: its points are not those of the other servers.
function drawLine(plot, index, chart, server) {
  const line = lineOf(chart, server), { ctx: context, bbox } = plot, whole = sheetNow().key === "time";
  const log = chart.log && shown.log;
  context.save();
  context.beginPath();
  context.rect(bbox.left, bbox.top - 8, bbox.width + 8, bbox.height + 16);
  context.clip();
  context.strokeStyle = colour(server);
  context.lineJoin = "round";
  context.setLineDash(server.dash.map((length) => 2 * length * devicePixelRatio));
  const faded = plots.focused && plots.focused !== index ? 0.2 : 1;
  for (const thin of whole ? [false] : [false, true]) {
    context.globalAlpha = faded * (thin ? 0.5 : 1);
    context.lineWidth = (thin ? 1 : plots.focused === index ? 3 : 2) * devicePixelRatio;
    context.beginPath();
    let open = false;
    line.x.forEach((x, n) => {
      const y = line.y[n], known = y != null && (!log || y > 0);
      const place = known && [plot.valToPos(x, "x", true), plot.valToPos(y, "y", true)];
      const doubtful = line.marks[n] === "o" || line.marks[n - 1] === "o";
      if (known && open && (whole || doubtful === thin)) context.lineTo(...place);
      else if (known) context.moveTo(...place);
      open = known;
    });
    context.stroke();
  }
  context.restore();
}

// One server's bar with its value; pale, with an outline, where it is not trusted.
function drawBar(plot, index, chart, server) {
  const { x: [x], y: [y], marks: sign } = lineOf(chart, server);
  if (y == null) return;
  const { ctx: context, bbox } = plot, px = devicePixelRatio, wide = barPx(plot);
  const middle = plot.valToPos(x, "x", true), top = plot.valToPos(y, "y", true);
  const bar = [middle - wide / 2, top, wide, Math.max(px, plot.valToPos(0, "y", true) - top)];
  const faded = plots.focused && plots.focused !== index ? 0.2 : 1;
  context.save();
  context.beginPath();
  context.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  context.clip();
  context.fillStyle = context.strokeStyle = colour(server);
  context.lineWidth = 1.2 * px;
  context.globalAlpha = faded * (sign === "o" ? 0.25 : 1);
  context.fillRect(...bar);
  context.globalAlpha = faded;
  if (sign === "o") context.strokeRect(...bar);
  context.font = `${11 * px}px system-ui, sans-serif`;
  context.textAlign = "center";
  context.fillStyle = token("text");
  const value = chart.key === "replies" ? figure(y) : text(chart, y);
  if (widthOf(value) * px <= 1.1 * placePx(plot)) context.fillText(value, middle, top - 6 * px);
  context.restore();
}

// What was published of servers: a line across each one's bar; an arrow, if it lies above the axis.
function beside(plot, chart) {
  const { ctx: context, bbox } = plot, px = devicePixelRatio, half = barPx(plot) / 2 + 3 * px;
  context.save();
  context.font = `${11 * px}px system-ui, sans-serif`;
  context.textAlign = "center";
  for (const [at, value, texts] of chart.published) {
    const [, , key] = sheetNow().across.marks.find(([x]) => x === at), server = data.servers.find((each) => each.key === key);
    if (shown.hidden.has(key)) continue;
    const x = plot.valToPos(placeOf(key), "x", true), there = value == null ? bbox.top - px : plot.valToPos(value, "y", true);
    const beyond = there < bbox.top, y = beyond ? bbox.top + 6 * px : there;
    const strokes = !beyond ? [[-half, 0, half, 0]] : value == null ? []
      : [[0, 5 * px, 0, -5 * px], [-3 * px, -2 * px, 0, -5 * px], [3 * px, -2 * px, 0, -5 * px]];
    for (const [width, name] of [[5, "card"], [2, "text"]]) {
      context.strokeStyle = token(name);
      context.lineWidth = width * px;
      context.beginPath();
      for (const [x1, y1, x2, y2] of strokes) { context.moveTo(x + x1, y + y1); context.lineTo(x + x2, y + y2); }
      context.stroke();
    }
    const words = texts.find((each) => widthOf(each) * px <= placePx(plot));
    if (!words) continue;
    // Not over the value of the bar, which stands above it.
    const [own] = lineOf(chart, server).y, above = own == null ? Infinity : plot.valToPos(own, "y", true) - 9 * px;
    const line = (beyond ? [13, 26] : [-9, 10, 24]).map((down) => y + down * px).find((each) => each > bbox.top + 6 * px
      && each < bbox.top + bbox.height - 6 * px && Math.abs(each - above) > 14 * px);
    if (!line) continue;
    const wide = widthOf(words) * px;
    context.globalAlpha = 0.85;
    context.fillStyle = token("card");
    context.fillRect(x - wide / 2, line - 7 * px, wide, 14 * px);
    context.globalAlpha = 1;
    context.fillStyle = token("soft");
    context.fillText(words, x, line + 4 * px);
  }
  context.restore();
}

// A distribution has too many points to mark: its lines are thin where others have hollow marks.
const hasMarks = (sheet) => sheet.key === "sweep" || sheet.key === "time";
const sheetNow = () => data.sheets[shown.sheet];

function mark(context, sign, x, y, size, ground) {
  context.beginPath();
  if (sign === "x") {
    context.moveTo(x - size, y - size); context.lineTo(x + size, y + size);
    context.moveTo(x + size, y - size); context.lineTo(x - size, y + size);
    context.stroke();
    return;
  }
  context.arc(x, y, size, 0, 2 * Math.PI);
  context.fillStyle = sign === "o" ? ground : context.strokeStyle;
  context.fill();
  context.stroke();
}

function marks(plot, index, chart, server) {
  if (!hasMarks(sheetNow())) return;
  const line = lineOf(chart, server), [low, high] = [plot.scales.x.min, plot.scales.x.max];
  const inside = line.x.filter((x) => x >= low && x <= high).length;
  if (!inside || plot.bbox.width / devicePixelRatio / inside < ROOM_PX) return;
  const { ctx: context } = plot, ground = token("card");
  context.save();
  context.beginPath();
  context.rect(plot.bbox.left - 8, plot.bbox.top - 8, plot.bbox.width + 16, plot.bbox.height + 16);
  context.clip();
  context.globalAlpha = plots.focused && plots.focused !== index ? 0.2 : 1;
  context.strokeStyle = colour(server);
  context.lineWidth = 1.5 * devicePixelRatio;
  line.x.forEach((x, n) => {
    const y = line.y[n];
    if (y == null || x < low || x > high || (chart.log && shown.log && y <= 0)) return;
    const best = sheetNow().key === "sweep" && x === server.best;
    const size = (best ? 6 : 3.2) * devicePixelRatio;
    mark(context, line.marks[n], plot.valToPos(x, "x", true), plot.valToPos(y, "y", true), size, ground);
  });
  context.restore();
}

function ideal(plot, sheet, chart) {
  if (sheet.key !== "sweep" || chart.key !== "replies" || !data.ideal) return;
  const { ctx: context } = plot;
  const top = Math.min(plot.scales.x.max, plot.scales.y.max);
  context.save();
  context.beginPath();
  context.setLineDash([2 * devicePixelRatio, 4 * devicePixelRatio]);
  context.strokeStyle = token("muted");
  context.moveTo(plot.valToPos(plot.scales.x.min, "x", true), plot.valToPos(plot.scales.x.min, "y", true));
  context.lineTo(plot.valToPos(top, "x", true), plot.valToPos(top, "y", true));
  context.stroke();
  context.restore();
}

// What belongs to no server: the clients' limit, figures of the source, the reader's notes.
function extras(plot, sheet, chart) {
  if (isBars(sheet)) beside(plot, chart);
  if (sheet.key !== "sweep") return;
  const { ctx: context, bbox } = plot, px = devicePixelRatio, first = chart === sheet.charts[0];
  const inside = (x) => x >= plot.scales.x.min && x <= plot.scales.x.max;
  const line = (x, dash) => {
    context.beginPath();
    context.setLineDash(dash.map((length) => length * px));
    context.moveTo(x, bbox.top);
    context.lineTo(x, bbox.top + bbox.height);
    context.stroke();
    context.setLineDash([]);
  };
  context.save();
  context.font = `${11 * px}px system-ui, sans-serif`;
  context.fillStyle = token("soft");
  context.strokeStyle = token("muted");
  context.lineWidth = px;
  if (data.limit && inside(data.limit)) {
    const x = plot.valToPos(data.limit, "x", true);
    line(x, [5, 4]);
    context.textAlign = "right";
    if (first) context.fillText("client limit", x - 5 * px, bbox.top + bbox.height - 8 * px);
  }
  context.textAlign = "center";
  data.notes.forEach((at, n) => {
    if (!inside(at)) return;
    const x = plot.valToPos(at, "x", true);
    line(x, [1, 3]);
    if (first) context.fillText(`${n + 1}`, x, bbox.top - 2 * px);
  });
  context.textAlign = "left";
  context.strokeStyle = token("text");
  context.lineWidth = 2 * px;
  const means = chart.key !== "time" || shown.percentile === "mean";
  for (const [at, value, [name]] of means ? chart.published : []) {
    const x = plot.valToPos(at, "x", true), there = plot.valToPos(value, "y", true), arm = 5 * px;
    if (!inside(at)) continue;
    const beyond = there < bbox.top, y = beyond ? bbox.top + 2 * arm : there, level = beyond ? y - arm : y;
    context.beginPath();
    context.moveTo(x - arm, y); context.lineTo(x, level); context.lineTo(x + arm, y);
    context.moveTo(x, y - arm); context.lineTo(x, y + arm);
    context.stroke();
    const text = `${name}${beyond ? ` ${value.toLocaleString("en")}` : ""}`;
    if (first || beyond) context.fillText(text, x + 8 * px, y + 4 * px);
  }
  context.restore();
}

// The nearest value of a server, because not all were measured at the same x.
function nearest(plot, index, hovered, x) {
  const values = plot.data[index], across = plot.data[0];
  if (!index || values[hovered] != null) return hovered;
  let before = hovered, after = hovered;
  while (before >= 0 && values[before] == null) before -= 1;
  while (after < values.length && values[after] == null) after += 1;
  if (before < 0) return after < values.length ? after : null;
  if (after >= values.length) return before;
  return x - across[before] <= across[after] - x ? before : after;
}

function said(sheet, server, x) {
  const sweep = sheet.charts[0].lines[server.key], line = sweep && Object.values(sweep)[0];
  const place = isBars(sheet) ? 0 : line ? line.x.indexOf(x) : -1;
  return (sheet.says[server.key] || [])[place] || "";
}

function showCard(plot, sheet, chart, servers) {
  const { left, top, idx, idxs } = plot.cursor;
  if (plot !== plots.hovered) return;
  if (left < 0 || idx == null) { card.hidden = true; return; }
  const rows = servers.map((server, n) => ({ server, at: idxs[n + 1], n: n + 1 }))
    .filter((row) => row.at != null && plot.data[row.n][row.at] != null && plot.series[row.n].show)
    .map((row) => ({ ...row, x: plot.data[0][row.at], value: plot.data[row.n][row.at] }))
    .sort((a, b) => b.value - a.value);
  if (!rows.length) { card.hidden = true; return; }
  const main = isBars(sheet) ? rows[0] : rows.find((row) => row.n === plots.focused) || null;
  const place = isBars(sheet) ? "" : `, ${at(sheet, main ? main.x : plot.data[0][idx])}`;
  card.replaceChildren(
    make("b", { textContent: main ? `${main.server.name}${place}` : place.slice(2) }),
    ...(main ? sheet.charts.map((each) => {
      const line = lineOf(each, main.server), value = line.y[line.x.indexOf(main.x)];
      const name = each.key === "time" && sheet.charts.length > 1 ? percentileOf(each) : each.title;
      return make("div", {}, make("span", { textContent: name }), make("span", { textContent: text(each, value) }));
    }) : rows.slice(0, 12).map((row) => {
      const dot = make("i");
      dot.style.background = colour(row.server);
      const name = make("span", {}, dot, row.server.name);
      return make("div", {}, name, make("span", { textContent: text(chart, row.value) }));
    })),
  );
  const words = main ? said(sheet, main.server, main.x) : "";
  if (words) card.append(make("p", { textContent: words }));
  card.hidden = false;
  const box = plot.over.getBoundingClientRect(), around = root.getBoundingClientRect();
  const x = box.left - around.left + left, y = box.top - around.top + top;
  card.style.left = `${Math.max(0, x + 18 + card.offsetWidth > around.width ? x - 18 - card.offsetWidth : x + 18)}px`;
  card.style.top = `${Math.max(0, Math.min(y + 12, around.height - card.offsetHeight))}px`;
}

function axes(sheet, chart, last) {
  const line = { stroke: token("line"), width: 1 };
  const plain = { stroke: token("soft"), font: FONT, grid: line, ticks: line };
  const { across } = sheet, marks = isBars(sheet) ? places() : across.marks;
  const x = { ...plain, label: last ? across.title : null, labelSize: 24, labelFont: "13px system-ui, sans-serif",
    values: (_, values) => values.map((v) => (v == null || !last ? "" : figure(v))) };
  if (marks.length) {
    x.splits = () => marks.map(([value]) => value);
    x.filter = (_, values) => values;
    x.values = () => marks.map(([, name]) => (last ? name : ""));
  }
  if (isBars(sheet)) {
    x.grid = { show: false };
    x.values = (plot) => marks.map(([, name]) => (last ? below(name, placePx(plot) / devicePixelRatio - 6) : ""));
  }
  if (!last) x.size = 12;
  return [x, { ...plain, size: 64,
    values: (_, values) => values.map((v) => (v == null ? "" : chart.key === "time" ? duration(v) : figure(v))) }];
}

// The nearest of 1, 2 and 5 times a power of ten, below or above.
function round(value, up) {
  const power = 10 ** Math.floor(Math.log10(value)), steps = [1, 2, 5, 10].map((n) => n * power);
  return up ? steps.find((step) => step >= value * 0.999) : steps.findLast((step) => step <= value * 1.001);
}

// A name below a bar, in two lines where one has no room.
function below(name, room) {
  const [, first, second] = widthOf(name) > room && name.match(/^(.+?)(?: · | )(.+)$/) || [];
  return first ? `${cut(first, room)}\n${cut(second, room)}` : cut(name, room);
}

function fitted(sheet, chart) {
  return (plot, low, high) => {
    if (isBars(sheet)) {
      const stated = chart.published.map(([, value]) => value).filter((value) => value != null && value <= FAR * high);
      // Values stand above bars, arrows and what they say above these.
      const room = stated.length < chart.published.length ? 1.45 : 1.18;
      return [0, Math.max(high, ...stated, chart.key === "errors" ? 1 : 0) * room || 1];
    }
    if (low == null || high == null) return chart.log && shown.log ? [0.1, 10] : [0, 1];
    if (chart.log && shown.log) return [round(low, false), round(high * 1.1, true)];
    if (zoom && chart.key === "replies") return [Math.max(0, low - 0.05 * high), high * 1.05];
    return [0, chart.key === "errors" ? Math.min(100, Math.max(1, high * 1.1)) : high * 1.06 || 1];
  };
}

function plot(sheet, chart, servers, width, last) {
  const log = chart.log && shown.log, holder = make("div");
  const few = sheet.charts.length === 1;
  const end = isBars(sheet) ? places().length : sheet.across.last;
  const ends = () => zoom || [sheet.across.log ? 1 : 0, end || 1];
  const options = {
    width,
    height: (few ? 440 : HEIGHTS[chart.key]) * (width < NARROW ? 0.8 : 1) + (last ? 34 : 0),
    padding: [10, 16, 0, 0],
    legend: { show: false },
    cursor: {
      y: false,
      sync: { key: "charts", scales: ["x", null] },
      focus: { prox: NEAREST_PX },
      drag: { x: true, y: false, setScale: false },
      dataIdx: isBars(sheet) ? (_, index, hovered) => hovered : nearest,
      points: { size: 8 },
    },
    scales: {
      x: { time: false, distr: sheet.across.log ? 3 : 1, range: ends },
      y: { distr: log ? 3 : 1, range: fitted(sheet, chart) },
    },
    axes: axes(sheet, chart, last),
    series: [{}, ...servers.map((server) => ({
      label: server.name,
      stroke: () => colour(server),
      paths: () => null,
      show: !shown.hidden.has(server.key),
      points: { show: false },
    }))],
    hooks: {
      drawClear: [(it) => ideal(it, sheet, chart)],
      drawSeries: [(it, index) => {
        if (!index) return;
        (isBars(sheet) ? drawBar : drawLine)(it, index, chart, servers[index - 1]);
        marks(it, index, chart, servers[index - 1]);
      }],
      draw: [(it) => extras(it, sheet, chart)],
      setCursor: [(it) => showCard(it, sheet, chart, servers)],
      setSeries: [(it, index, change) => {
        if (it === plots.hovered && "focus" in change) focus(change.focus && index ? index : 0);
      }],
      setSelect: [(it) => {
        if (it.select.width < 6 || it !== plots.hovered) return;
        const from = it.posToVal(it.select.left, "x"), to = it.posToVal(it.select.left + it.select.width, "x");
        setZoom([from, to]);
      }],
    },
  };
  const made = new uPlot(options, joined(chart, servers), holder);
  made.over.addEventListener("pointerenter", () => { plots.hovered = made; });
  made.over.addEventListener("pointerleave", () => { card.hidden = true; focus(0); });
  made.over.addEventListener("dblclick", () => setZoom(null));
  const hollow = (chart.explains || []).map((each) => (hasMarks(sheet) ? each : each.replace("hollow", "thin"))).join(" · ");
  const unit = few || chart.key !== "time" ? chart.unit : `${percentileOf(chart)}, ${chart.unit}`;
  holder.prepend(make("div", { className: "title" }, make("b", { textContent: chart.title }),
    ` ${unit}${log ? ", log scale" : ""}`, make("span", { textContent: hollow })));
  return [made, holder];
}

// Lets one server stand out in all charts; 0: none.
function focus(index) {
  if (plots.focused === index) return;
  plots.focused = index;
  for (const it of plots) it.redraw(false);
}

function setZoom(span) {
  zoom = span;
  draw();
}

const bar = make("div", { className: "bar" }), chips = make("div", { className: "chips" });
const charts = make("div"), card = make("div", { className: "card", hidden: true });

function button(name, pressed, act, about = "") {
  const made = make("button", { type: "button", textContent: name, title: about, onclick: act });
  made.setAttribute("aria-pressed", String(pressed));
  return made;
}

function controls(sheet) {
  const views = make("span", { className: "group" }, ...data.sheets.map((each, n) =>
    button(each.title, n === shown.sheet, () => { shown.sheet = n; zoom = null; draw(); })));
  const parts = data.sheets.length > 1 ? [views] : [];
  const times = sheet.charts.find((c) => c.key === "time");
  const known = ORDER.filter((p) => Object.values(times ? times.lines : {}).some((l) => l[p]));
  if (known.length > 1) {
    const slider = make("input", { type: "range", min: 0, max: known.length - 1, step: 1,
      value: known.indexOf(shown.percentile), ariaLabel: "Percentile of response times" });
    const name = make("output", { textContent: NAMES[shown.percentile] });
    slider.oninput = () => { shown.percentile = known[slider.value]; name.textContent = NAMES[shown.percentile]; drawCharts(); };
    parts.push(make("label", {}, "Response time ", slider, name));
  }
  if (sheet.charts.some((c) => c.log)) parts.push(button("Log scale", shown.log, () => { shown.log = !shown.log; draw(); }));
  if (zoom) parts.push(button("Whole axis", false, () => setZoom(null), "Or double-click a chart"));
  parts.push(button(isDark() ? "Light" : "Dark", false, () => {
    shown.theme = isDark() ? "light" : "dark";
    document.documentElement.dataset.theme = shown.theme;
    draw();
  }));
  return parts;
}

function chip(server) {
  const hidden = shown.hidden.has(server.key), dot = make("i");
  dot.style.background = hidden ? "transparent" : colour(server);
  dot.style.borderColor = colour(server);
  const made = button("", !hidden, (event) => {
    const others = data.servers.filter((each) => each !== server).map((each) => each.key);
    if (event.shiftKey) shown.hidden = new Set(others);
    else if (!shown.hidden.delete(server.key)) shown.hidden.add(server.key);
    draw();
  }, "Show or hide; with Shift: this one alone");
  made.append(dot, server.name);
  made.addEventListener("pointerenter", () => focus(data.servers.indexOf(server) + 1));
  made.addEventListener("pointerleave", () => focus(0));
  return made;
}

function drawCharts() {
  const sheet = sheetNow();
  const width = Math.max(280, charts.clientWidth || root.clientWidth);
  for (const each of plots) each.destroy();
  const made = sheet.charts.map((chart, n) => plot(sheet, chart, data.servers, width, n === sheet.charts.length - 1));
  plots = made.map(([it]) => it);
  charts.replaceChildren(...made.map(([, holder]) => holder));
  card.hidden = true;
}

function draw() {
  const chosen = document.activeElement && bar.contains(document.activeElement) ? [...bar.querySelectorAll("button, input")].indexOf(document.activeElement) : -1;
  bar.replaceChildren(...controls(sheetNow()));
  chips.replaceChildren(...data.servers.map(chip), make("button", { type: "button", textContent: "All",
    onclick: () => { shown.hidden.clear(); draw(); }, hidden: !shown.hidden.size }));
  if (chosen >= 0) (bar.querySelectorAll("button, input")[chosen] || bar).focus?.();
  drawCharts();
}

// The page of a run that goes on: what is new is told by the server.
function follow({ events, data: place }) {
  const part = (id) => document.getElementById(id);
  const tell = () => {
    document.title = part("title").textContent = data.title;
    part("headline").textContent = data.headline;
    part("ranking").replaceChildren(...data.ranking.map((each, n) => {
      const dot = make("i", { className: "dot" }), row = make("tr");
      dot.style.background = colour(data.servers.find((server) => server.key === each.key));
      row.append(make("td", { className: "muted", textContent: `${n + 1}` }), make("td", { className: "who" }, dot, each.name),
        make("td", { className: "n sustained", textContent: each.figure }));
      return row;
    }));
  };
  const source = new EventSource(events);
  source.onmessage = async (event) => {
    const news = JSON.parse(event.data);
    part("state").textContent = news.state;
    if (news.version === data.version) return;
    data = await (await fetch(place)).json();
    tell();
    draw();
  };
  source.onerror = () => { part("state").textContent = "The connection is lost; trying again."; };
  tell();
}

root.append(bar, chips, charts, card);
root.hidden = false;
document.documentElement.classList.add("alive");
draw();
new ResizeObserver(() => { if (charts.clientWidth && plots[0] && plots[0].width !== charts.clientWidth) drawCharts(); }).observe(root);
dark.addEventListener("change", draw);
if (root.dataset.events) follow(root.dataset);
})();
