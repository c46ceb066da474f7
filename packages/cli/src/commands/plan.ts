import { fail, ok, type Plan, type PlannedStep, planLevels, type Resources, type Result } from '@sluice/core';
import { chooseClusters, previewReuse, type Reuse, type ReusePreview, type RunPlacement } from '@sluice/runner';
import type { CommandContext } from '../command-context.ts';
import { EXIT_CODE } from '../exit-code.ts';
import { findReuse, type ReuseOptions } from '../find-reuse.ts';
import { findHome } from '../home.ts';
import { listSites } from '../list-sites.ts';
import { loadPlan } from '../pipeline/load-plan.ts';
import { countDiagnostics, printDiagnostics } from '../pipeline/print-diagnostics.ts';
import type { Refusal } from '../refusal.ts';
import { fromRunner, refuse } from '../refuse.ts';
import { renderTable } from '../render-table.ts';

export interface PlanOptions extends ReuseOptions {
  readonly param?: Readonly<Record<string, string>>;
}

/** What would be taken over, and from where. */
interface Preview extends Reuse {
  readonly steps: readonly ReusePreview[];
}

/** `sluice plan`: what a run would do, without doing anything. */
export async function plan(file: string, context: CommandContext, options: PlanOptions): Promise<number> {
  const { terminal } = context;
  const loaded = await loadPlan(file, { context, params: options.param });
  const diagnostics = loaded.ok ? loaded.value.warnings : loaded.error.diagnostics;
  printDiagnostics(diagnostics, loaded.ok ? loaded.value.texts : loaded.error.texts, { terminal, ...options });
  if (!loaded.ok) {
    if (options.json !== true) terminal.err(`${countDiagnostics(diagnostics)} in ${file}\n`);
    return EXIT_CODE.refused;
  }
  const { plan } = loaded.value;
  const preview = await preparePreview(loaded.value, { options, context });
  if (!preview.ok) return refuse(preview.error, { context, options });
  if (options.json === true) {
    terminal.out(`${JSON.stringify({ ...plan, ...(preview.value && { reuse: preview.value }) })}\n`);
    return EXIT_CODE.ok;
  }
  const sites = await listSites(plan, { options, context });
  if (!sites.ok) return refuse(sites.error, { context, options });
  const placement = chooseClusters(plan, sites.value);
  terminal.out(renderPlan(plan, { placement: placement.ok ? placement.value : undefined, preview: preview.value }));
  if (placement.ok) return EXIT_CODE.ok;
  const message = `A run would be refused: ${placement.error}`;
  return refuse({ exitCode: EXIT_CODE.refused, message }, { context, options });
}

async function preparePreview(
  { plan, baseDir }: { plan: Plan; baseDir: string },
  { options, context }: { options: PlanOptions; context: CommandContext },
): Promise<Result<Preview | undefined, Refusal>> {
  const found = await findReuse(plan, { context, options });
  if (!found.ok) return found;
  const { reuse } = found.value;
  if (reuse === undefined) return ok(undefined);
  const steps = await previewReuse({ plan, reuse, home: findHome(context, options), baseDir });
  return steps.ok ? ok({ ...reuse, steps: steps.value }) : fail(fromRunner(steps.error));
}

function renderPlan(
  plan: Plan,
  { placement, preview }: { placement: RunPlacement | undefined; preview: Preview | undefined },
): string {
  const levels = planLevels(plan);
  const choice = (step: number) => placement?.choices[placement.ofStep[step]!];
  const isSplit = new Set(plan.steps.map(({ index }) => choice(index)?.clusters[0])).size > 1;
  const rows = plan.steps.map((step) => [
    step.final ? 'last' : String(levels[step.index]),
    step.step.name,
    step.cells === undefined ? 'at run time' : String(step.cells.length),
    dependenciesOf(step, plan),
    instanceTypeOf(step, placement && choice(step.index)),
    ...(isSplit ? [choice(step.index)?.clusters.join(', ') ?? ''] : []),
    preview ? renderPreview(preview.steps[step.index]!) : step.step.cache === undefined ? 'no' : 'yes',
  ]);
  const known = plan.steps.reduce((sum, { cells }) => sum + (cells?.length ?? 0), 0);
  const open = plan.steps.filter(({ cells }) => cells === undefined).length;
  const containers = `${known}${open > 0 ? ' or more' : ''} container${known === 1 && open === 0 ? '' : 's'}`;
  const cluster = isSplit ? ['CLUSTER'] : [];
  const last = preview ? `TAKEN OVER FROM ${preview.runId}` : 'CACHE';
  const table = renderTable([['LEVEL', 'STEP', 'CELLS', 'AFTER', 'INSTANCE TYPE', ...cluster, last], ...rows]);
  const transfers = placement ? renderTransfers(plan, (step) => choice(step)?.clusters[0]) : '';
  return `${table}\n${transfers}${plan.pipeline.name}: ${plan.steps.length} step${plan.steps.length === 1 ? '' : 's'}, ${containers}${renderParams(plan)}\n`;
}

function renderPreview({ cells, reused, skipped, reason }: ReusePreview): string {
  if (reason === '') return skipped === 0 ? 'yes' : reused === 0 ? 'skipped' : `${reused}, and ${skipped} skipped`;
  return reused === 0 ? `no: ${reason}` : `${reused} of ${cells}: ${reason}`;
}

function renderParams({ params }: Plan): string {
  const names = Object.keys(params);
  return names.length === 0 ? '' : `, with ${names.map((name) => `${name}=${JSON.stringify(params[name])}`).join(' ')}`;
}

function dependenciesOf(step: PlannedStep, plan: Plan): string {
  if (step.final) return 'all others';
  const named = step.dependencies.map(({ on, condition }) => {
    const name = plan.steps[on]?.step.name ?? '';
    return condition === 'succeeded' ? name : `${name} (${condition})`;
  });
  return named.length === 0 ? '-' : named.join(', ');
}

/** What would be copied between clusters; how large it is shows only when it is there. */
function renderTransfers(plan: Plan, clusterOf: (step: number) => string | undefined): string {
  const lines = plan.steps.flatMap(({ index, step, dependencies }) =>
    Object.values(step.inputs).flatMap(({ from }) => {
      const source =
        'step' in from ? dependencies.find(({ on }) => plan.steps[on]?.step.name === from.step) : undefined;
      const [here, there] = [clusterOf(index), source && clusterOf(source.on)];
      if (!('step' in from) || there === undefined || there === here) return [];
      return [`copies ${from.step}.${from.output} from ${there} to ${here}, for ${step.name}\n`];
    }),
  );
  return [...new Set(lines)].join('') + (lines.length > 0 ? '\n' : '');
}

/** The type that would be chosen. */
function instanceTypeOf({ step }: PlannedStep, choice: RunPlacement['choices'][number] | undefined): string {
  if (step.approval !== undefined) return '-';
  return step.instanceType ?? choice?.instanceType ?? `with ${renderResources(step.resources ?? {})}`;
}

function renderResources({ cpu, memoryBytes, gpu, gpuModel }: Resources): string {
  const parts = [
    ...(cpu === undefined ? [] : [`${cpu} cores`]),
    ...(memoryBytes === undefined ? [] : [`${+(memoryBytes / 1e9).toFixed(2)} GB`]),
    ...(gpu === undefined && gpuModel === undefined ? [] : [`${gpu ?? 1} GPU ${gpuModel ?? ''}`.trim()]),
  ];
  return parts.join(', ');
}
