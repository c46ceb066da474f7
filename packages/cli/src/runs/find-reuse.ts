import { ok, type Plan, type Result } from '@sluice/core';
import type { Reuse } from '@sluice/runner';
import type { CommandContext, GlobalOptions } from '../context/command-context.ts';
import type { CommandRefusal } from '../context/command-refusal.ts';

export interface ReuseOptions extends GlobalOptions {
  /** Takes over from the newest run of the pipeline. */
  readonly reuse?: boolean;
  /** The beginning of the ID of the run to take over from instead. */
  readonly from?: string;
  /** Steps that run anew where an earlier run is taken over. */
  readonly again?: readonly string[];
}

/** The run that is to be taken over from; `--from` and `--again` alone ask for it, too. */
export async function findReuse(
  plan: Plan,
  { context, options }: { context: CommandContext; options: ReuseOptions },
): Promise<Result<{ readonly reuse?: Reuse }, CommandRefusal>> {
  const { reuse = false, from, again = [] } = options;
  if (!reuse && from === undefined && again.length === 0) return ok({});
  const [{ selectRun }, { findHome }] = await Promise.all([import('./select-run.ts'), import('../home/home.ts')]);
  const home = findHome(context, options);
  const { name } = plan.pipeline;
  const found = await selectRun(home, {
    prefix: from,
    accept: ({ pipeline }) => pipeline === name,
    which: ` of pipeline ${name}`,
    options,
  });
  return found.ok ? ok({ reuse: { runId: found.value.runId, again } }) : found;
}
