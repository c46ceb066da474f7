import { FEATURES, type InstanceType } from '@sluice/client';
import {
  describeAxes,
  escalationOfCells,
  fail,
  hasLateValues,
  listedAxis,
  ok,
  type Placement,
  type Plan,
  type Resources,
  type Result,
  resolvePlannedText,
  resourcesOfCells,
  valuesOfCell,
} from '@sluice/core';
import type { PlacementChoice } from '@sluice/run';
import { announcesFeature } from './announces-feature.ts';
import { chooseInstanceType } from './choose-instance-type.ts';
import { cannotRunTasks, describeOffer, describeResources } from './describe-resources.ts';
import type { CellPart } from './split-cells.ts';

/** What is known about the clusters when a run begins. */
export interface Sites {
  /** The cluster that the run was started for. It is the default for steps without a placement. */
  readonly home: string;
  /** One account for each cluster. */
  readonly accounts: Readonly<Record<string, string>>;
  /** Of all clusters. */
  readonly instanceTypes: readonly InstanceType[];
  /** The cluster of a volume by its name in the pipeline; undefined for sources, which can be copied to any cluster. */
  readonly volumeCluster: (name: string) => string | undefined;
}

/** The clusters for the cells of a part, best first. The error names the step, and the cell if the part is not all of it. */
export function chooseForPart(plan: Plan, part: CellPart, sites: Sites): Result<PlacementChoice, string> {
  const { step, index } = part.planned;
  if (step.approval && step.command === undefined && step.image === undefined) return ok({ clusters: [sites.home] });
  const placement = valuesOfCell(plan, index, part.cells?.[0] ?? 0).placement ?? plan.pipeline.placement;
  const missing = findMissingAccount(part, placement, sites);
  if (missing !== undefined) return fail(`${nameOf(plan, part)}: ${missing}`);
  const named = namedClusters(placement);
  const known = Object.keys(sites.accounts).sort();
  const bound = volumeClusters(part, sites);
  const usable = (named ?? [sites.home, ...known.filter((cluster) => cluster !== sites.home)]).filter(
    (cluster) =>
      Object.hasOwn(sites.accounts, cluster) &&
      bound.every((other) => other === cluster) &&
      fitsOn(
        plan,
        part,
        sites.instanceTypes.filter(({ clusterID }) => clusterID === cluster),
      ),
  );
  const first = usable[0];
  if (first === undefined) {
    const offered = sites.instanceTypes.filter(({ clusterID }) => (named ?? known).includes(clusterID));
    if (step.tasks && !announcesFeature(FEATURES.multiNode, { instanceTypes: offered }))
      return fail(`${nameOf(plan, part)}: ${cannotRunTasks((named ?? known).join(' or '))}`);
    const wanted = unofferedRequest(plan, part, offered);
    return fail(describeNone(nameOf(plan, part), { named: named ?? known, bound, sites, wanted }));
  }
  // Without a requested placement, other clusters are used only if no instance type of the run's own cluster fits.
  const clusters = named === undefined && first === sites.home ? [first] : usable;
  const level = unofferedLevel(
    plan,
    part,
    sites.instanceTypes.filter(({ clusterID }) => clusters.includes(clusterID)),
  );
  if (level !== undefined) {
    const none = describeNone(nameOf(plan, part), { named: clusters, bound, sites, wanted: level });
    return fail(`\`retry.escalate\` of ${none}`);
  }
  if (placement?.ordered === undefined) sortByWorth(plan, part, { clusters, sites });
  const instanceType = typeOn(plan, part, { cluster: clusters[0]!, types: sites.instanceTypes });
  return ok({ clusters, ...(instanceType !== undefined && { instanceType }) });
}

/** An expression means the cluster that it names, so another one of a list does not replace it. */
function findMissingAccount(
  { planned }: CellPart,
  placement: Placement | undefined,
  { accounts }: Sites,
): string | undefined {
  const templates = namedClusters(planned.step.perCell?.placement);
  const unknown =
    templates &&
    namedClusters(placement)?.find((cluster) => !Object.hasOwn(accounts, cluster) && !templates.includes(cluster));
  return unknown === undefined ? undefined : describeStrange([unknown], accounts);
}

function namedClusters(placement: Placement | undefined): readonly string[] | undefined {
  if (placement?.cluster !== undefined) return [placement.cluster];
  const several = placement?.ordered ?? placement?.anyOf;
  // Expressions can yield a cluster twice.
  return several && [...new Set(several)];
}

function volumeClusters({ planned }: CellPart, sites: Sites): string[] {
  return Object.values(planned.step.inputs).flatMap(({ from }) => {
    const cluster = 'volume' in from ? sites.volumeCluster(from.volume) : undefined;
    return cluster === undefined ? [] : [cluster];
  });
}

type Cells = Pick<CellPart, 'planned' | 'cells'>;

/** The cells of a part have equal requests. */
function cellsOf({ planned, cells }: Cells): { readonly step: number; readonly cells: readonly number[] | undefined } {
  return { step: planned.index, cells: cells?.slice(0, 1) };
}

/** Whether one cluster's instance types meet the requirements of some cells, as far as these are known before the run. */
export function fitsOn(plan: Plan, cells: Cells, types: readonly InstanceType[]): boolean {
  const { step } = cells.planned;
  if (step.approval && step.command === undefined && step.image === undefined) return true;
  if (step.tasks && !announcesFeature(FEATURES.multiNode, { instanceTypes: types })) return false;
  if (step.instanceType === undefined)
    return resourcesOfCells(plan, cellsOf(cells)).every((wanted) => chooseInstanceType(types, wanted) !== undefined);
  const known = new Set(types.map(({ id }) => id));
  return knownTypes(plan, cells).every((id) => known.has(id));
}

/** The first request of a cell that none of these types meets, or the first one of all. */
function unofferedRequest(plan: Plan, cells: Cells, types: readonly InstanceType[]): string | Resources {
  const { instanceType } = cells.planned.step;
  if (instanceType !== undefined)
    return knownTypes(plan, cells).find((wanted) => types.every(({ id }) => id !== wanted)) ?? instanceType;
  const wanted = resourcesOfCells(plan, cellsOf(cells));
  return wanted.find((one) => chooseInstanceType(types, one) === undefined) ?? wanted[0] ?? {};
}

/** The first level of `retry.escalate` that none of these types meets; undefined if there is none. */
export function unofferedLevel(
  plan: Plan,
  cells: Cells,
  types: readonly InstanceType[],
): string | Resources | undefined {
  return escalationOfCells(plan, cellsOf(cells)).find((level) =>
    typeof level === 'string' ? !types.some(({ id }) => id === level) : chooseInstanceType(types, level) === undefined,
  );
}

const READS_ITEMS = /\b(?:each|matrix)\b/;

/** The instance types that cells name; empty if they are known only during the run. */
function knownTypes(plan: Plan, cells: Cells): readonly string[] {
  const { step, cells: all = [] } = cells.planned;
  const { instanceType = '' } = step;
  if (!instanceType.includes('${{')) return [instanceType];
  if (/\b(?:steps|run|item|attempt|env)\b/.test(instanceType)) return [];
  // An item of a list is known only during the run.
  if (READS_ITEMS.test(instanceType) && listedAxis(plan.pipeline, step) !== undefined) return [];
  const found = new Set<string>();
  for (const cell of cellsOf(cells).cells?.map((index) => all[index]!) ?? all) {
    const type = resolvePlannedText(plan, instanceType, { cell });
    if (type.ok) found.add(type.value);
    if (!READS_ITEMS.test(instanceType)) break;
  }
  return [...found];
}

/** The instance type that cells get on a cluster; undefined if they get different ones. */
function typeOn(
  plan: Plan,
  cells: Cells,
  { cluster, types }: { readonly cluster: string; readonly types: readonly InstanceType[] },
): string | undefined {
  const { index, step } = cells.planned;
  const there = types.filter(({ clusterID }) => clusterID === cluster);
  if (step.instanceType === undefined) {
    const chosen = new Set(
      resourcesOfCells(plan, cellsOf(cells)).map((wanted) => chooseInstanceType(there, wanted)?.id),
    );
    return chosen.size === 1 && !hasLateValues(plan, index) ? [...chosen][0] : undefined;
  }
  return there.find(({ id }) => id === step.instanceType)?.id;
}

/** Sorts by most local inputs, then by the smallest instance type. The sort is stable. */
function sortByWorth(
  plan: Plan,
  part: CellPart,
  { clusters, sites }: { readonly clusters: string[]; readonly sites: Sites },
): void {
  const counts = new Map<string | undefined, number>();
  for (const place of part.inputs) counts.set(place, (counts.get(place) ?? 0) + 1);
  const local = (cluster: string) => counts.get(cluster) ?? 0;
  const size = (cluster: string) => {
    const id = typeOn(plan, part, { cluster, types: sites.instanceTypes });
    const type = sites.instanceTypes.find((one) => one.clusterID === cluster && one.id === id);
    return type === undefined ? 0 : (type.gpu?.count ?? 0) * 1e6 + type.cpu.cores * 1e3 + type.memory.sizeGB;
  };
  clusters.sort((a, b) => local(b) - local(a) || size(a) - size(b));
}

/** Also the keys of items that the name of the cell does not have: they are those of the rows of a table. */
function nameOf(plan: Plan, { planned, cells }: CellPart): string {
  const cell = cells && planned.cells?.[cells[0]!];
  if (cell === undefined || cell.key === '') return `step ${planned.step.name}`;
  const axes = Object.entries(describeAxes(plan, cell) ?? {}).map(([axis, key]) => `${axis} ${key}`);
  return `step ${planned.step.name}, cell ${cell.key}${axes.length > 1 ? ` (${axes.join(', ')})` : ''}`;
}

function describeStrange(clusters: readonly string[], accounts: Sites['accounts']): string {
  const known = Object.keys(accounts).sort().join(', ');
  return `there is no account on cluster ${clusters.join(' or ')}; there are accounts on ${known}`;
}

function describeNone(
  name: string,
  {
    named,
    bound,
    sites,
    wanted,
  }: {
    readonly named: readonly string[];
    readonly bound: readonly string[];
    readonly sites: Sites;
    readonly wanted: string | Resources;
  },
): string {
  const strange = named.filter((cluster) => !Object.hasOwn(sites.accounts, cluster));
  if (strange.length === named.length) return `${name}: ${describeStrange(strange, sites.accounts)}`;
  const type = typeof wanted === 'string' ? wanted : undefined;
  const offered = sites.instanceTypes.filter(({ clusterID }) => named.includes(clusterID));
  const most = bound.length > 0 ? '' : describeOffer(offered, type);
  const mounts = bound.length === 0 ? '' : `, and its volumes are on ${[...new Set(bound)].join(' and ')}`;
  return `${name}: no instance type of cluster ${named.join(' or ')} offers ${typeof wanted === 'string' ? wanted : describeResources(wanted)}${mounts}${most}`;
}
