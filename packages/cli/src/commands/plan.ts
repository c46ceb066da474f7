import { type Plan, type PlannedStep, planLevels } from '@sluice/core';
import type { CommandContext, GlobalOptions } from '../command-context.ts';
import { EXIT_CODE } from '../exit-code.ts';
import { loadPlan } from '../pipeline/load-plan.ts';
import { countDiagnostics, printDiagnostics } from '../pipeline/print-diagnostics.ts';
import { renderTable } from '../render-table.ts';

export interface PlanOptions extends GlobalOptions {
  readonly param?: Readonly<Record<string, string>>;
}

/** `sluice plan`: what a run would do. Talks to no service and changes nothing. */
export async function plan(file: string, context: CommandContext, options: PlanOptions): Promise<number> {
  const { terminal } = context;
  const loaded = loadPlan(file, { context, params: options.param });
  const diagnostics = loaded.ok ? loaded.value.warnings : loaded.error.diagnostics;
  printDiagnostics(diagnostics, loaded.ok ? loaded.value.texts : loaded.error.texts, { terminal, ...options });
  if (!loaded.ok) {
    if (options.json !== true) terminal.err(`${countDiagnostics(diagnostics)} in ${file}\n`);
    return EXIT_CODE.refused;
  }
  terminal.out(options.json === true ? `${JSON.stringify(loaded.value.plan)}\n` : renderPlan(loaded.value.plan));
  return EXIT_CODE.ok;
}

function renderPlan(plan: Plan): string {
  const levels = planLevels(plan);
  const rows = plan.steps.map((step) => [
    step.final ? 'last' : String(levels[step.index]),
    step.step.name,
    step.cells === undefined ? 'at run time' : String(step.cells.length),
    dependenciesOf(step, plan),
    resourcesOf(step),
    step.step.cache === undefined ? 'no' : 'yes',
  ]);
  const known = plan.steps.reduce((sum, { cells }) => sum + (cells?.length ?? 0), 0);
  const open = plan.steps.filter(({ cells }) => cells === undefined).length;
  const containers = `${known}${open > 0 ? ' or more' : ''} container${known === 1 && open === 0 ? '' : 's'}`;
  const table = renderTable([['LEVEL', 'STEP', 'CELLS', 'AFTER', 'INSTANCE TYPE', 'CACHE'], ...rows]);
  return `${table}\n${plan.pipeline.name}: ${plan.steps.length} steps, ${containers}${renderParams(plan)}\n`;
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

function resourcesOf({ step }: PlannedStep): string {
  if (step.instanceType !== undefined) return step.instanceType;
  const { cpu, memoryBytes, gpu, gpuModel } = step.resources ?? {};
  const parts = [
    ...(cpu === undefined ? [] : [`${cpu} CPU`]),
    ...(memoryBytes === undefined ? [] : [`${+(memoryBytes / 2 ** 30).toFixed(2)} GiB`]),
    ...(gpu === undefined ? [] : [`${gpu} ${gpuModel ?? 'GPU'}`]),
  ];
  return parts.length === 0 ? 'smallest' : `at least ${parts.join(', ')}`;
}
