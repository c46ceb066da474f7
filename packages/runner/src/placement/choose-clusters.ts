import type { InstanceType } from '@sluice/client';
import {
  escalationOfCells,
  evaluateTogether,
  fail,
  hasLateValues,
  ok,
  type Placement,
  type Plan,
  type PlannedStep,
  type Resources,
  type Result,
  resolvePlannedText,
  resourcesOfCells,
} from '@sluice/core';
import type { PlacementChoice, RunPlacement } from '@sluice/run';
import { chooseInstanceType } from './choose-instance-type.ts';
import { describeOffer, describeResources } from './describe-resources.ts';

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

/**
 * Chooses for each step the clusters that have a fitting instance type, best first. Unless the pipeline orders them,
 * clusters that hold more of the step's inputs come first. The error names the step for which there is none.
 */
export function chooseClusters(plan: Plan, sites: Sites): Result<RunPlacement, string> {
  return evaluateTogether(plan, () => choose(plan, sites));
}

function choose(plan: Plan, sites: Sites): Result<RunPlacement, string> {
  const choices: PlacementChoice[] = [];
  const indexes = new Map<string, number>();
  const ofStep: number[] = [];
  const indexOf = new Map(plan.steps.map(({ index, step }) => [step.name, index]));
  const firstOf = (name: string) => {
    const index = indexOf.get(name);
    return index === undefined ? undefined : choices[ofStep[index]!]?.clusters[0];
  };
  for (const planned of inOrder(plan)) {
    const choice = chooseForStep(plan, planned, { ...sites, firstOf });
    if (!choice.ok) return choice;
    const key = JSON.stringify(choice.value);
    let index = indexes.get(key);
    if (index === undefined) {
      index = choices.push(choice.value) - 1;
      indexes.set(key, index);
    }
    ofStep[planned.index] = index;
  }
  const used = new Set(choices.flatMap(({ clusters }) => clusters));
  const accounts = Object.fromEntries(Object.entries(sites.accounts).filter(([cluster]) => used.has(cluster)));
  return ok({ accounts, choices, ofStep });
}

interface StepSites extends Sites {
  /** The first cluster of a step that precedes this one, by its name. */
  readonly firstOf: (step: string) => string | undefined;
}

function chooseForStep(plan: Plan, planned: PlannedStep, sites: StepSites): Result<PlacementChoice, string> {
  const { step } = planned;
  if (step.approval && step.command === undefined && step.image === undefined) return ok({ clusters: [sites.home] });
  const placement = step.placement ?? plan.pipeline.placement;
  const named = namedClusters(placement);
  const known = Object.keys(sites.accounts).sort();
  const bound = volumeClusters(planned, sites);
  const usable = (named ?? [sites.home, ...known.filter((cluster) => cluster !== sites.home)]).filter(
    (cluster) =>
      Object.hasOwn(sites.accounts, cluster) &&
      bound.every((other) => other === cluster) &&
      fitsOn(
        plan,
        planned,
        sites.instanceTypes.filter(({ clusterID }) => clusterID === cluster),
      ),
  );
  const first = usable[0];
  if (first === undefined) {
    const offered = sites.instanceTypes.filter(({ clusterID }) => (named ?? known).includes(clusterID));
    const wanted = step.instanceType ?? unofferedRequest(plan, planned, offered);
    return fail(describeNone(planned, { named: named ?? known, bound, sites, wanted }));
  }
  // Without a requested placement, other clusters are used only if no instance type of the run's own cluster fits.
  const clusters = named === undefined && first === sites.home ? [first] : usable;
  const level = unofferedLevel(
    plan,
    planned,
    sites.instanceTypes.filter(({ clusterID }) => clusters.includes(clusterID)),
  );
  if (level !== undefined) {
    return fail(`\`retry.escalate\` of ${describeNone(planned, { named: clusters, bound, sites, wanted: level })}`);
  }
  if (placement?.ordered === undefined) sortByWorth(plan, planned, { clusters, sites });
  const instanceType = typeOn(plan, planned, { cluster: clusters[0]!, types: sites.instanceTypes });
  return ok({ clusters, ...(instanceType !== undefined && { instanceType }) });
}

function namedClusters(placement: Placement | undefined): readonly string[] | undefined {
  if (placement?.cluster !== undefined) return [placement.cluster];
  return placement?.ordered ?? placement?.anyOf;
}

function volumeClusters({ step }: PlannedStep, sites: StepSites): string[] {
  return Object.values(step.inputs).flatMap(({ from }) => {
    const cluster = 'volume' in from ? sites.volumeCluster(from.volume) : undefined;
    return cluster === undefined ? [] : [cluster];
  });
}

/** Whether one cluster's instance types meet a step's requirements, as far as these are known before the run. */
export function fitsOn(plan: Plan, planned: PlannedStep, types: readonly InstanceType[]): boolean {
  const { step } = planned;
  if (step.approval && step.command === undefined && step.image === undefined) return true;
  if (step.instanceType === undefined)
    return resourcesOfCells(plan, planned.index).every((wanted) => chooseInstanceType(types, wanted) !== undefined);
  const known = new Set(types.map(({ id }) => id));
  return knownTypes(plan, planned).every((id) => known.has(id));
}

/** The first request of a cell that none of these types meets, or the first one of all. */
function unofferedRequest(plan: Plan, { index }: PlannedStep, types: readonly InstanceType[]): Resources {
  const wanted = resourcesOfCells(plan, index);
  return wanted.find((one) => chooseInstanceType(types, one) === undefined) ?? wanted[0] ?? {};
}

/** The first level of `retry.escalate` that none of these types meets; undefined if there is none. */
export function unofferedLevel(
  plan: Plan,
  { index }: PlannedStep,
  types: readonly InstanceType[],
): string | Resources | undefined {
  return escalationOfCells(plan, index).find((level) =>
    typeof level === 'string' ? !types.some(({ id }) => id === level) : chooseInstanceType(types, level) === undefined,
  );
}

/** The instance types that a step names; empty if they are known only during the run. */
function knownTypes(plan: Plan, { step, cells }: PlannedStep): readonly string[] {
  const { instanceType = '' } = step;
  if (!instanceType.includes('${{')) return [instanceType];
  if (/\b(?:steps|run|item|attempt|env)\b/.test(instanceType)) return [];
  const found = new Set<string>();
  for (const cell of cells ?? []) {
    const type = resolvePlannedText(plan, instanceType, { cell });
    if (type.ok) found.add(type.value);
    // Without a matrix, all cells have the same type.
    if (step.matrix === undefined) break;
  }
  return [...found];
}

/** The instance type that a step gets on a cluster; undefined if its cells get different ones. */
function typeOn(
  plan: Plan,
  { index, step }: PlannedStep,
  { cluster, types }: { readonly cluster: string; readonly types: readonly InstanceType[] },
): string | undefined {
  const there = types.filter(({ clusterID }) => clusterID === cluster);
  if (step.instanceType === undefined) {
    const chosen = new Set(resourcesOfCells(plan, index).map((wanted) => chooseInstanceType(there, wanted)?.id));
    return chosen.size === 1 && !hasLateValues(plan, index) ? [...chosen][0] : undefined;
  }
  return there.find(({ id }) => id === step.instanceType)?.id;
}

/** Sorts by most local inputs, then by the smallest instance type. The sort is stable. */
function sortByWorth(
  plan: Plan,
  planned: PlannedStep,
  { clusters, sites }: { clusters: string[]; sites: StepSites },
): void {
  const inputs = Object.values(planned.step.inputs).map(({ from }) => {
    if ('volume' in from) return sites.home;
    return sites.firstOf(from.step);
  });
  const counts = new Map<string | undefined, number>();
  for (const place of inputs) counts.set(place, (counts.get(place) ?? 0) + 1);
  const local = (cluster: string) => counts.get(cluster) ?? 0;
  const size = (cluster: string) => {
    const id = typeOn(plan, planned, { cluster, types: sites.instanceTypes });
    const type = sites.instanceTypes.find((one) => one.clusterID === cluster && one.id === id);
    return type === undefined ? 0 : (type.gpu?.count ?? 0) * 1e6 + type.cpu.cores * 1e3 + type.memory.sizeGB;
  };
  clusters.sort((a, b) => local(b) - local(a) || size(a) - size(b));
}

function describeNone(
  { step }: PlannedStep,
  {
    named,
    bound,
    sites,
    wanted,
  }: { named: readonly string[]; bound: readonly string[]; sites: StepSites; wanted: string | Resources },
): string {
  const strange = named.filter((cluster) => !Object.hasOwn(sites.accounts, cluster));
  const known = Object.keys(sites.accounts).sort().join(', ');
  if (strange.length === named.length) {
    return `step ${step.name}: there is no account on cluster ${strange.join(' or ')}; there are accounts on ${known}`;
  }
  const name = typeof wanted === 'string' ? wanted : undefined;
  const offered = sites.instanceTypes.filter(({ clusterID }) => named.includes(clusterID));
  const most = bound.length > 0 ? '' : describeOffer(offered, name);
  const mounts = bound.length === 0 ? '' : `, and its volumes are on ${[...new Set(bound)].join(' and ')}`;
  return `step ${step.name}: no instance type of cluster ${named.join(' or ')} offers ${typeof wanted === 'string' ? wanted : describeResources(wanted)}${mounts}${most}`;
}

/** The steps in topological order. Steps of a cycle, which core rejects, are last. */
function inOrder(plan: Plan): PlannedStep[] {
  const open = plan.steps.map(({ dependencies }) => dependencies.length);
  const dependents: number[][] = plan.steps.map(() => []);
  for (const { index, dependencies } of plan.steps) for (const { on } of dependencies) dependents[on]!.push(index);
  const order = plan.steps.filter(({ index }) => open[index] === 0);
  for (const { index } of order) {
    for (const dependent of dependents[index]!) if (--open[dependent]! === 0) order.push(plan.steps[dependent]!);
  }
  return order.concat(plan.steps.filter(({ index }) => open[index]! > 0));
}
