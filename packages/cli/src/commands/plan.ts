import type { InstanceType } from '@sluice/client';
import { type Plan, type PlannedStep, planLevels, type Resources } from '@sluice/core';
import { chooseInstanceType } from '@sluice/runner';
import type { CommandContext, GlobalOptions } from '../command-context.ts';
import { EXIT_CODE } from '../exit-code.ts';
import { listInstanceTypes } from '../list-instance-types.ts';
import { loadPlan } from '../pipeline/load-plan.ts';
import { countDiagnostics, printDiagnostics } from '../pipeline/print-diagnostics.ts';
import { refuse } from '../refuse.ts';
import { renderTable } from '../render-table.ts';

export interface PlanOptions extends GlobalOptions {
  readonly param?: Readonly<Record<string, string>>;
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
  if (options.json === true) {
    terminal.out(`${JSON.stringify(loaded.value.plan)}\n`);
    return EXIT_CODE.ok;
  }
  const types = await listInstanceTypes(options, context);
  if (!types.ok) return refuse(types.error, { context, options });
  terminal.out(renderPlan(loaded.value.plan, types.value));
  const misfit = loaded.value.plan.steps.find((step) => instanceTypeOf(step, types.value) === undefined);
  if (misfit === undefined) return EXIT_CODE.ok;
  const message = `Step ${misfit.step.name} asks for more than any instance type offers; a run would be refused`;
  return refuse({ exitCode: EXIT_CODE.refused, message }, { context, options });
}

function renderPlan(plan: Plan, types: readonly InstanceType[]): string {
  const levels = planLevels(plan);
  const rows = plan.steps.map((step) => [
    step.final ? 'last' : String(levels[step.index]),
    step.step.name,
    step.cells === undefined ? 'at run time' : String(step.cells.length),
    dependenciesOf(step, plan),
    instanceTypeOf(step, types) ?? `none with ${renderResources(step.step.resources ?? {})}`,
    step.step.cache === undefined ? 'no' : 'yes',
  ]);
  const known = plan.steps.reduce((sum, { cells }) => sum + (cells?.length ?? 0), 0);
  const open = plan.steps.filter(({ cells }) => cells === undefined).length;
  const containers = `${known}${open > 0 ? ' or more' : ''} container${known === 1 && open === 0 ? '' : 's'}`;
  const table = renderTable([['LEVEL', 'STEP', 'CELLS', 'AFTER', 'INSTANCE TYPE', 'CACHE'], ...rows]);
  return `${table}\n${plan.pipeline.name}: ${plan.steps.length} step${plan.steps.length === 1 ? '' : 's'}, ${containers}${renderParams(plan)}\n`;
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

/** The type that would be chosen; undefined where none of them fits. */
function instanceTypeOf({ step }: PlannedStep, types: readonly InstanceType[]): string | undefined {
  if (step.approval !== undefined) return '-';
  if (step.instanceType !== undefined) return step.instanceType;
  return chooseInstanceType(types, step.resources)?.id;
}

function renderResources({ cpu, memoryBytes, gpu, gpuModel }: Resources): string {
  const parts = [
    ...(cpu === undefined ? [] : [`${cpu} cores`]),
    ...(memoryBytes === undefined ? [] : [`${+(memoryBytes / 1e9).toFixed(2)} GB`]),
    ...(gpu === undefined && gpuModel === undefined ? [] : [`${gpu ?? 1} GPU ${gpuModel ?? ''}`.trim()]),
  ];
  return parts.join(', ');
}
