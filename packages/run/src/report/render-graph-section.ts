import type { DetailedReport, StepReport } from '../schemas/run-report.ts';
import type { StatusReport } from '../schemas/status.ts';
import { describeStatus } from './describe-status.ts';
import { type LayeredGraph, layerGraph } from './layer-graph.ts';
import { type Markup, markup, NOTHING } from './markup.ts';
import { statusClass } from './status-class.ts';

/** With more steps, the steps of adjacent levels are drawn as one node. */
const MAX_NODES = 150;
/** With more edges, the graph would be unreadable. */
const MAX_EDGES = 1_500;
/** The most nodes if steps are grouped. */
const MAX_GROUPS = 40;
/** The smallest scale of a wide graph before it is scrolled instead. */
const SMALLEST = 0.7;
const NODE = { width: 168, height: 38 };
const NAME_LENGTH = 24;

/** One box of the graph. */
interface GraphNode {
  readonly name: string;
  readonly level: number;
  readonly steps: readonly StepReport[];
}

interface Edge {
  readonly from: number;
  readonly to: number;
}

/** The graph of the run's steps (not cells) as SVG; nothing for a single step. */
export function renderGraphSection(report: DetailedReport): Markup {
  const { levels } = report;
  if (report.steps.length < 2) return NOTHING;
  const steps = report.dependencies.flatMap((on, to) => on.map((from) => ({ from, to })));
  const single = report.steps.length <= MAX_NODES && steps.length <= MAX_EDGES;
  const nodes = single
    ? report.steps.map((step, index) => ({ name: step.step, level: levels[index]!, steps: [step] }))
    : groupLevels(report.steps, levels);
  const edges = single ? steps : nodes.slice(1).map((_, index) => ({ from: index, to: index + 1 }));
  const graph = layerGraph({
    levels: nodes.map(({ level }) => level),
    edges,
    nodeWidth: NODE.width,
    nodeHeight: NODE.height,
  });
  const critical = new Set(
    single ? report.criticalPath.slice(1).map(({ step }, i) => `${report.criticalPath[i]?.step} ${step}`) : [],
  );
  const note = single
    ? NOTHING
    : markup`<p class="soft">${report.steps.length} steps are too many for one graph: steps of the same level are drawn as one node.</p>`;
  return markup`<h2>Graph</h2>${note}<div class="scroll">${drawGraph(graph, { nodes, edges, critical })}</div>`;
}

/** At most `MAX_GROUPS` groups, each of all steps of some consecutive levels. */
function groupLevels(steps: readonly StepReport[], levels: readonly number[]): GraphNode[] {
  const depth = levels.reduce((deepest, level) => Math.max(deepest, level + 1), 0);
  const count = Math.min(MAX_GROUPS, depth);
  const groups: StepReport[][] = Array.from({ length: count }, () => []);
  steps.forEach((step, index) => {
    groups[Math.floor((levels[index]! * count) / depth)]!.push(step);
  });
  return groups.map((group, level) => {
    const more = group.length === 1 ? '' : ` and ${group.length - 1} more`;
    return { name: `${group[0]?.step ?? ''}${more}`, level, steps: group };
  });
}

function drawGraph(
  graph: LayeredGraph,
  shown: {
    nodes: readonly GraphNode[];
    edges: readonly Edge[];
    /** Pairs of names. */
    critical: ReadonlySet<string>;
  },
): Markup {
  const { nodes, edges, critical } = shown;
  const lines = graph.edges.map((points, index) => {
    const { from, to } = edges[index]!;
    const isCritical = critical.has(`${nodes[from]!.name} ${nodes[to]!.name}`);
    return markup`<path class="edge${isCritical ? ' critical' : ''}" d="${drawCurve(points)}"/>`;
  });
  const boxes = nodes.map((node, index) => drawNode(node, graph.nodes[index]!));
  const [width, height] = [Math.ceil(graph.width) + 2, Math.ceil(graph.height) + 2];
  const least = Math.round(width * SMALLEST);
  return markup`<svg role="img" aria-label="graph of steps" style="min-width:${least}px" width="${width}" height="${height}" viewBox="-1 -1 ${width} ${height}">${lines}${boxes}</svg>`;
}

function drawCurve(points: readonly { x: number; y: number }[]): string {
  return points
    .map(({ x, y }, index) => {
      if (index === 0) return `M${round(x)} ${round(y)}`;
      const before = points[index - 1]!;
      const middle = round((before.x + x) / 2);
      return `C${middle} ${round(before.y)} ${middle} ${round(y)} ${round(x)} ${round(y)}`;
    })
    .join('');
}

function drawNode({ name, steps }: GraphNode, { x, y }: { x: number; y: number }): Markup {
  const counts = countStatuses(steps);
  const total = counts.reduce((sum, { count }) => sum + count, 0);
  let left = x;
  const strips = counts.map(({ status, count }) => {
    const width = (NODE.width * count) / Math.max(1, total);
    const strip = markup`<rect class="strip ${statusClass(status)}" x="${round(left)}" y="${round(y + NODE.height - 5)}" width="${round(width)}" height="5"/>`;
    left += width;
    return strip;
  });
  const words = counts.map(({ words, count }) => (total === 1 ? words : `${count} ${words}`)).join(', ');
  const short = name.length > NAME_LENGTH ? `${name.slice(0, NAME_LENGTH - 1)}…` : name;
  const shortWords = words.length > 30 ? `${words.slice(0, 29)}…` : words;
  return markup`<g><title>${name}: ${words}</title><rect class="node" x="${round(x)}" y="${round(y)}" width="${NODE.width}" height="${NODE.height}" rx="4"/>${strips}<text x="${round(x + 8)}" y="${round(y + 14)}">${short}</text><text class="sub" x="${round(x + 8)}" y="${round(y + 28)}">${shortWords}</text></g>`;
}

interface StatusCount {
  readonly status: StatusReport;
  readonly words: string;
  count: number;
}

function countStatuses(steps: readonly StepReport[]): StatusCount[] {
  const counts = new Map<string, StatusCount>();
  for (const step of steps) {
    for (const status of step.cells.length === 0 ? [step] : step.cells) {
      const words = describeStatus(status);
      const known = counts.get(words);
      if (known) known.count += 1;
      else counts.set(words, { status, words, count: 1 });
    }
  }
  return [...counts.values()];
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
