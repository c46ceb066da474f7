import type { SourceRange } from '@sluice/core';
import type { RunReport } from '@sluice/run';
import type { CommandContext } from '../context/command-context.ts';
import { loadPlan } from '../pipeline/load-plan.ts';
import { orderOptions } from './create-order.ts';

/**
 * Where the steps of a run are in its file, as it is now. Nothing is found if the run records no file, or if the file
 * has errors meanwhile.
 */
export async function locateSteps(
  { order }: Pick<RunReport, 'order'>,
  context: Pick<CommandContext, 'cwd'>,
): Promise<(step: string) => SourceRange | undefined> {
  if (order === undefined) return () => undefined;
  const loaded = await loadPlan(order.file, { context, options: orderOptions(order) });
  if (!loaded.ok) return () => undefined;
  const { locate, plan } = loaded.value;
  const sections = new Map([
    ...plan.pipeline.steps.map(({ name }) => [name, 'steps'] as const),
    ...plan.pipeline.finally.map(({ name }) => [name, 'finally'] as const),
  ]);
  return (step) => {
    const section = sections.get(step);
    return section === undefined ? undefined : locate([section, step]);
  };
}
