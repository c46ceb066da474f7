import {
  fail,
  ok,
  own,
  type Plan,
  type PlannedStep,
  planLevels,
  type Resources,
  type Result,
  type Step,
} from '@sluice/core';
import {
  choiceOf,
  choicesOf,
  describeImage,
  firstClusters,
  type ImageUse,
  type PlacementChoice,
  printableLine,
  type Reuse,
  type RunPlacement,
} from '@sluice/run';
import {
  chooseClusters,
  countClusters,
  describeMoves,
  findIgnoredOptions,
  findLocalFaults,
  listTransfers,
  previewReuse,
  type ReusePreview,
} from '@sluice/runner';
import { listSites, type PlannedSites } from '../connect/list-sites.ts';
import type { CommandContext } from '../context/command-context.ts';
import type { CommandError } from '../context/command-rejection.ts';
import { EXIT_CODE } from '../context/exit-code.ts';
import { printWarning } from '../context/print-warning.ts';
import { fromRunError, reject } from '../context/reject.ts';
import { createSecretReader } from '../home/create-secret-reader.ts';
import { findHome } from '../home/home.ts';
import { countCells } from '../json/count-cells.ts';
import { countLists } from '../json/count-lists.ts';
import { describePlan } from '../json/describe-plan.ts';
import { renderValue } from '../json/render-value.ts';
import { checkImages } from '../pipeline/check-images.ts';
import { type LoadedPlan, loadPlan, type PipelineFileOptions } from '../pipeline/load-plan.ts';
import { locateFaults } from '../pipeline/locate-faults.ts';
import { countDiagnostics, printDiagnostics } from '../pipeline/print-diagnostics.ts';
import { describeShells } from '../render/describe-shell.ts';
import { findReuse, type ReuseOptions } from '../runs/find-reuse.ts';
import { renderTable } from '../text/render-table.ts';
import { listSome, shorten } from '../text/shorten.ts';

/** With a request for reuse, the plan shows which cells would be reused. */
export type PlanOptions = ReuseOptions & PipelineFileOptions;

/** The cells that would be reused, and their run. */
interface Preview extends Reuse {
  readonly steps: readonly ReusePreview[];
}

/** `sluice plan`: shows what a run would do and why it would be rejected. Starts nothing. */
export async function plan(file: string, context: CommandContext, options: PlanOptions): Promise<number> {
  const { terminal } = context;
  const loaded = await loadPlan(file, { context, options });
  const diagnostics = loaded.ok ? loaded.value.warnings : loaded.error.diagnostics;
  printDiagnostics(diagnostics, loaded.ok ? loaded.value.texts : loaded.error.texts, { context, options });
  if (!loaded.ok) {
    if (options.json !== true) terminal.err(`${countDiagnostics(diagnostics)} in ${file}`);
    return EXIT_CODE.rejected;
  }
  const { plan } = loaded.value;
  const preview = await preparePreview(loaded.value, { options, context });
  if (!preview.ok) return reject(preview.error, { context, options });
  const sites = await listSites(plan, { options, context });
  if (!sites.ok) return reject(sites.error, { context, options });
  const placement = chooseClusters(plan, sites.value);
  const chosen = placement.ok ? placement.value : undefined;
  const known = { placement: chosen, preview: preview.value, home: sites.value.home };
  if (options.json === true) {
    terminal.out(renderValue('plan', describePlan(plan, { file, ...known, images: sites.value.images })));
  } else {
    terminal.out(renderPlan(plan, known));
    terminal.out(renderImages(plan, sites.value.images));
  }
  const { home, instanceTypes } = sites.value;
  for (const ignored of findIgnoredOptions({ plan, home, placement: chosen, instanceTypes })) {
    printWarning(terminal, ignored);
  }
  const beforehand = await findFaults(loaded.value, { file, sites: sites.value, context, options });
  const faults = placement.ok ? beforehand : [placement.error, ...beforehand];
  if (faults.length === 0) return EXIT_CODE.ok;
  const [message = '', ...lines] = faults.map((fault) => `a run would not start: ${fault}`);
  return reject({ exitCode: EXIT_CODE.rejected, message, lines }, { context, options });
}

/** Finds everything for which a run would be rejected. Prints the faults that have a position in the file. */
async function findFaults(
  loaded: LoadedPlan,
  {
    file,
    sites,
    context,
    options,
  }: { file: string; sites: PlannedSites; context: CommandContext; options: PlanOptions },
): Promise<readonly string[]> {
  const { plan, texts } = loaded;
  const home = findHome(context, options);
  const readSecret = createSecretReader(home, context.env);
  const { baseDir } = loaded;
  const { limits } = sites;
  const given = { plan, baseDir, home, readSecret, ...(limits && { limits }), listsSources: true };
  const local = await findLocalFaults(given);
  const located = locateFaults(local, loaded);
  printDiagnostics(located, texts, { context, options });
  const images = await checkImages(plan, { options, context });
  return [
    ...(located.length === 0 ? [] : [`${countDiagnostics(located)} in ${file}`]),
    ...(images.ok ? [] : [images.error.message]),
    ...local.filter(({ path }) => path === undefined).map((fault) => fromRunError(fault, { options }).message),
    ...(sites.unknown === undefined ? [] : [sites.unknown]),
  ];
}

async function preparePreview(
  { plan, baseDir }: { plan: Plan; baseDir: string },
  { options, context }: { options: PlanOptions; context: CommandContext },
): Promise<Result<Preview | undefined, CommandError>> {
  const found = await findReuse(plan, { context, options });
  if (!found.ok) return found;
  const { reuse } = found.value;
  if (reuse === undefined) return ok(undefined);
  const steps = await previewReuse({ plan, reuse, home: findHome(context, options), baseDir });
  return steps.ok ? ok({ ...reuse, steps: steps.value }) : fail(fromRunError(steps.error, { options }));
}

function renderPlan(
  plan: Plan,
  { placement, preview, home }: { placement: RunPlacement | undefined; preview: Preview | undefined; home: string },
): string {
  const levels = planLevels(plan);
  const clusters = new Set(
    plan.steps.flatMap(({ index }) => firstClusters({ placement, home: { clusterID: home } }, index)),
  );
  const isSplit = clusters.size > 1;
  const rows = plan.steps.map((step) => [
    step.final ? 'last' : String(levels[step.index]),
    step.step.name,
    renderCells(plan, step),
    dependenciesOf(step, plan),
    instanceTypeOf(step, placement ? choicesOf(placement, step.index) : []),
    ...(isSplit && placement ? [renderClusters(placement, step)] : []),
    preview ? renderPreview(preview.steps[step.index]!) : step.step.cache === undefined ? 'no' : 'yes',
  ]);
  const known = plan.steps.reduce((sum, step) => sum + (countCells(plan, step) ?? 0), 0);
  const open = plan.steps.filter((step) => countCells(plan, step) === undefined).length;
  const containers = open > 0 ? `${known} or more containers` : countWords(known, 'container');
  const cluster = isSplit ? ['CLUSTER'] : [];
  const last = preview ? `REUSED FROM ${preview.runId}` : 'CACHE';
  const table = renderTable([['LEVEL', 'STEP', 'CELLS', 'AFTER', 'INSTANCE TYPE', ...cluster, last], ...rows]);
  const moves = describeMoves(plan, placement, home).map((line) => `${line}\n`);
  const transfers = placement ? renderTransfers(plan, placement, home) : '';
  return `${table}\n${renderLists(plan)}${transfers}${moves.join('')}${describeShells(plan)}${plan.pipeline.name}: ${countWords(plan.steps.length, 'step')}, ${containers}, on cluster ${isSplit ? 'as shown' : ([...clusters][0] ?? home)}${renderParams(plan)}\n`;
}

function renderCells(plan: Plan, step: PlannedStep): string {
  const lists = countLists(plan, step);
  return lists === undefined ? String(countCells(plan, step) ?? 'at run time') : countWords(lists.count, 'list');
}

/** One line for each axis whose items a step lists during the run. */
function renderLists(plan: Plan): string {
  const lines = plan.steps.flatMap((planned) => {
    const lists = countLists(plan, planned);
    if (lists === undefined) return [];
    const each = plan.steps.find(({ step }) => step.name === lists.step)?.step.each;
    const per = each === undefined ? '' : `, one per ${each.join(' and ')}`;
    return [
      `axis ${lists.axis}: ${countWords(lists.count, 'list')}${per}; cells are known when ${lists.step} has ended\n`,
    ];
  });
  return lines.length === 0 ? '' : `${[...new Set(lines)].join('')}\n`;
}

function countWords(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** Columns for the names of the steps that use one image. */
const STEP_COLUMNS = 60;

/** Describes how `cache` and `--reuse` identify each image. */
function renderImages(plan: Plan, images: readonly ImageUse[] | undefined): string {
  if (images === undefined) {
    const hasImages = plan.steps.some(({ step }) => step.image !== undefined);
    return hasImages
      ? 'images: identified by digest if the engine of this machine reports it when the run starts\n'
      : '';
  }
  return images
    .map((use) => `image of ${listSome(use.steps, STEP_COLUMNS)}: ${printableLine(describeImage(use))}\n`)
    .join('');
}

function renderPreview({ cells, reused, skipped, reason }: ReusePreview): string {
  if (reason === '') return skipped === 0 ? 'yes' : reused === 0 ? 'skipped' : `${reused}, and ${skipped} skipped`;
  return reused === 0 ? `no: ${reason}` : `${reused}${cells === undefined ? '' : ` of ${cells}`}: ${reason}`;
}

function renderParams({ params }: Plan): string {
  const names = Object.keys(params);
  return names.length === 0
    ? ''
    : `, with ${names.map((name) => `${name}=${shorten(JSON.stringify(own(params, name)), 60)}`).join(' ')}`;
}

/** Columns for the names of dependencies; `--json` prints all of them. */
const AFTER_COLUMNS = 30;

function dependenciesOf(step: PlannedStep, plan: Plan): string {
  if (step.final) return 'all other steps';
  const named = step.dependencies.map(({ on, condition }) => {
    const name = plan.steps[on]?.step.name ?? '';
    return condition === 'succeeded' ? name : `${name} (${condition})`;
  });
  return named.length === 0 ? '-' : listSome([...new Set(named)], AFTER_COLUMNS);
}

/** The clusters on which a step may run; of cells with different ones, how many there are of each. */
function renderClusters(placement: RunPlacement, { index, cells = [] }: PlannedStep): string {
  const choices = choicesOf(placement, index).map(({ clusters }) => clusters.join(', '));
  if (new Set(choices).size === 1) return choices[0]!;
  const counts = countClusters(cells.map((_, cell) => choiceOf(placement, { step: index, cell }).clusters[0] ?? ''));
  return [...counts].map(([cluster, count]) => `${countWords(count, 'cell')} on ${cluster}`).join(', ');
}

/** Lists the copies between clusters. Their size is unknown until the outputs exist. */
function renderTransfers(plan: Plan, placement: RunPlacement, home: string): string {
  const lines = listTransfers(plan, placement, home).map(
    ({ name, from, to, step }) => `copies ${name} from ${from} to ${to}, for ${step}\n`,
  );
  return lines.join('') + (lines.length > 0 ? '\n' : '');
}

/** For a step that runs several times at once, how often, for example ` × 2 nodes × 4`. */
function describeTasks({ tasks }: Step): string {
  if (tasks === undefined) return '';
  const { nodes, perNode } = tasks;
  return `${nodes === 1 ? '' : ` × ${countWords(nodes, 'node')}`}${perNode === 1 ? '' : ` × ${perNode}`}`;
}

/** The instance type that the step names or that would be chosen for it; otherwise the resources it requests. */
function instanceTypeOf({ step }: PlannedStep, choices: readonly PlacementChoice[]): string {
  if (step.approval !== undefined) return '-';
  const types = new Set(choices.map(({ instanceType }) => instanceType));
  const chosen = types.has(undefined) || types.size === 0 ? undefined : [...types].join(', ');
  const requested = renderResources(step.resources ?? {});
  const size = step.instanceType ?? chosen ?? (requested === '' ? '-' : `with ${requested}`);
  return `${size}${describeTasks(step)}`;
}

function renderResources({ cpu, memoryBytes, gpu, gpuModel }: Resources): string {
  const parts = [
    ...(cpu === undefined ? [] : [cpu === 1 ? '1 core' : `${cpu} cores`]),
    ...(memoryBytes === undefined ? [] : [`${+(memoryBytes / 1e9).toFixed(2)} GB`]),
    ...(gpu === undefined && gpuModel === undefined ? [] : [`${gpu ?? 1} GPU ${gpuModel ?? ''}`.trim()]),
  ];
  return parts.join(', ');
}
