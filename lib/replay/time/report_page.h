// The page around the figures: plain SVG drawn by a few lines of script.
#pragma once

namespace crater::replay {

inline constexpr const char* report_before = R"PAGE(<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Crater: simulated schedules</title>
<style>
:root { --ink: #1c2330; --soft: #667085; --line: #e4e7ec; --page: #f7f8fa; --card: #fff }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ef; --soft: #98a2b3; --line: #2d3442; --page: #12161d; --card: #1a202a } }
* { box-sizing: border-box }
body { margin: 0; background: var(--page); color: var(--ink); font: 14px/1.5 system-ui, sans-serif }
main { max-width: 1180px; margin: 0 auto; padding: 28px 20px 48px }
h1 { font-size: 22px; margin: 0 0 2px } h2 { font-size: 15px; margin: 0 } p { margin: 0; color: var(--soft) }
.tag { font-size: 12px; border: 1px solid #b54708; color: #b54708; border-radius: 9px; padding: 1px 8px; margin-left: 8px; vertical-align: 3px }
.legend { display: flex; flex-wrap: wrap; gap: 4px 16px; margin: 16px 0 }
.legend span::before { content: ""; display: inline-block; width: 14px; height: 3px; border-radius: 2px; background: var(--c); margin-right: 6px; vertical-align: 4px }
.grid { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 480px), 1fr)); gap: 16px }
.box { background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: 14px 16px; overflow-x: auto }
svg { width: 100%; height: auto; display: block; margin-top: 6px } svg text { fill: var(--soft); font-size: 11px }
table { border-collapse: collapse; width: 100%; margin-top: 8px } td, th { text-align: right; padding: 5px 8px; border-top: 1px solid var(--line); font-variant-numeric: tabular-nums }
td { white-space: nowrap } th { color: var(--soft); font-weight: 500; border-top: 0; vertical-align: bottom; line-height: 1.25 } td:first-child, th:first-child { text-align: left }
</style></head><body><main>
<h1>Simulated schedules<span class="tag">simulated</span></h1><p id="what"></p><div class="legend" id="legend"></div>
<div class="box" style="margin-bottom:16px"><h2>Figures</h2><table id="figures"></table></div><div class="grid" id="charts"></div>
</main><script>
const answer = )PAGE";

inline constexpr const char* report_after = R"PAGE(;
const colours = ['#1570ef', '#d92d20', '#099250', '#7a5af8', '#dc6803', '#0e9384', '#c11574', '#667085'];
const runs = answer.runs.map((r, i) => ({ ...r, colour: colours[i % colours.length] }));
const byId = id => document.getElementById(id), text = (tag, words, parent) => { const e = document.createElement(tag); e.textContent = words; parent.append(e); return e };
const short = v => v >= 1000 ? Math.round(v).toLocaleString('en') : v >= 10 ? v.toFixed(1) : v >= 0.1 || v === 0 ? v.toFixed(2) : v.toPrecision(2);
byId('what').textContent = `${answer.workload}: ${answer.jobs.toLocaleString('en')} jobs on ${answer.nodes} simulated nodes with ${answer.cards_per_node} cards of ${answer.card_gib} GiB; `
  + `durations ${answer.durations}, checkpoint ${answer.checkpoint}, each resume ${answer.resume_cost_s} s, policy ${answer.policy}, seed ${answer.seed}`;
for (const r of runs) text('span', r.run, byId('legend')).style.setProperty('--c', r.colour);

const columns = [['Order', r => r.run], ['Completion, mean h', r => short(r.completion_h.mean)], ['p90', r => short(r.completion_h.p90)], ['Big jobs, mean h', r => short(r.completion_big_h.mean)],
  ['Wait, mean h', r => short(r.wait_h.mean)], ['p99', r => short(r.wait_h.p99)], ['longest', r => short(r.wait_h.longest)], ['Preempted per job', r => short(r.preemptions_per_job)],
  ['Cards held %', r => short(r.held_percent)], ['Compute used %', r => short(r.used_percent)], ['Stranded memory %', r => short(r.stranded_memory_percent)]];
const head = byId('figures').insertRow(); for (const [name] of columns) text('th', name, head);
for (const r of runs) { const row = byId('figures').insertRow(); for (const [, value] of columns) row.insertCell().textContent = value(r) }

const W = 520, H = 240, L = 48, R = 12, T = 10, B = 32, NS = 'http://www.w3.org/2000/svg';
function ticks(low, high) {
  const raw = (high - low) / 5 || 1, step = 10 ** Math.floor(Math.log10(raw)), size = [1, 2, 5, 10].find(m => m * step >= raw) * step, out = [];
  for (let v = Math.ceil(low / size) * size; v <= high + size / 1e6; v += size) out.push(v);
  return out;
}
function logTicks(low, high) { const out = []; for (let e = Math.ceil(Math.log10(low)); e <= Math.log10(high) + 1e-9; ++e) out.push(10 ** e); return out }
function chart(title, note, x, y, series, log) {
  const box = document.createElement('div'); box.className = 'box'; byId('charts').append(box); text('h2', title, box); text('p', note, box);
  const all = series.flatMap(s => s.points), xs = all.map(p => p[0]), ys = all.map(p => p[1]);
  const reduce = (list, f, or) => list.length ? list.reduce((a, b) => f(a, b)) : or;
  let x0 = log ? 0.01 : 0, x1 = Math.max(reduce(xs, Math.max, 1), log ? 0.1 : 1e-9), y1 = y === '%' ? 100 : Math.max(reduce(ys, Math.max, 1), 1e-9) * 1.05;
  const px = v => L + (W - L - R) * (log ? Math.log(Math.max(v, x0) / x0) / Math.log(x1 / x0) : v / x1), py = v => H - B - (H - T - B) * v / y1;
  const svg = document.createElementNS(NS, 'svg'); svg.setAttribute('viewBox', `0 0 ${W} ${H}`); svg.setAttribute('role', 'img'); svg.setAttribute('aria-label', title); box.append(svg);
  const add = (tag, attributes, words) => { const e = document.createElementNS(NS, tag); for (const k in attributes) e.setAttribute(k, attributes[k]); if (words !== undefined) e.textContent = words; svg.append(e) };
  const label = v => v >= 1000 ? `${v / 1000}k` : String(+v.toPrecision(3));
  for (const v of ticks(0, y1)) { add('line', { x1: L, x2: W - R, y1: py(v), y2: py(v), stroke: 'var(--line)' }); add('text', { x: L - 6, y: py(v) + 4, 'text-anchor': 'end' }, label(v) + (y === '%' ? ' %' : '')) }
  for (const v of log ? logTicks(x0, x1) : ticks(0, x1)) add('text', { x: px(v), y: H - B + 15, 'text-anchor': 'middle' }, label(v));
  add('text', { x: W - R, y: H - 3, 'text-anchor': 'end' }, x);
  for (const s of series) add('path', { d: s.points.map((p, i) => (i ? 'L' : 'M') + px(p[0]).toFixed(1) + ' ' + py(p[1]).toFixed(1)).join(''), fill: 'none', stroke: s.colour, 'stroke-width': 1.6, 'stroke-linejoin': 'round' });
}
// At most so many points a line: each the mean of those it stands for.
function thin(hours, values, most = 260) {
  const size = Math.max(1, Math.ceil(hours.length / most)), out = [];
  for (let i = 0; i < hours.length; i += size) { const part = values.slice(i, i + size); out.push([hours[i] / 24, part.reduce((a, b) => a + b, 0) / part.length]) }
  return out;
}
const over = (key, factor) => runs.map(r => ({ colour: r.colour, points: thin(r.curve.hour, r.curve[key].map(v => v * factor)) }));
const share = key => runs.map(r => ({ colour: r.colour, points: r[key].map((v, q) => [Math.max(v, 0.01), q]) }));
chart('GPU compute in use', 'what jobs really use, of all cards', 'days', '%', over('used', 100));
chart('Cards held', 'by any job, of all cards', 'days', '%', over('held', 100));
chart('Stranded memory', 'on cards in use, neither asked for nor of use to any shape of work', 'days', '%', over('stranded', 100));
chart('Cards waited for', 'asked for by jobs that wait', 'days', 'cards', over('waiting_cards', 1));
chart('Jobs that wait', 'at each moment', 'days', 'jobs', over('waiting', 1));
chart('Wait', 'share of jobs that wait no longer', 'hours', '%', share('wait_quantiles_h'), true);
chart('Completion', 'share of jobs done this long after they were submitted', 'hours', '%', share('completion_quantiles_h'), true);
</script></body></html>
)PAGE";

}  // namespace crater::replay
