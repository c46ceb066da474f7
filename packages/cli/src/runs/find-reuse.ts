import { ok, type Plan, type Result } from '@sluice/core';
import type { Reuse } from '@sluice/run';
import type { CommandContext, GlobalOptions } from '../context/command-context.ts';
import type { CommandError } from '../context/command-rejection.ts';

/** `reuseFrom` and `from` imply `reuse`. */
export interface ReuseOptions extends GlobalOptions {
  /** Reuse steps of the latest run of the pipeline. */
  readonly reuse?: boolean;
  /** Prefix of the ID of the run to reuse instead. */
  readonly reuseFrom?: string;
  /** Steps, or cells of them, to rerun although an earlier run is reused. */
  readonly from?: readonly string[];
}

/** Selects the run to reuse; no `reuse` in the result if the options do not request it. */
export async function findReuse(
  plan: Plan,
  { context, options }: { context: CommandContext; options: ReuseOptions },
): Promise<Result<{ readonly reuse?: Reuse }, CommandError>> {
  const { reuse = false, reuseFrom, from = [] } = options;
  if (!reuse && reuseFrom === undefined && from.length === 0) return ok({});
  const [{ selectRun }, { findHome }] = await Promise.all([import('./select-run.ts'), import('../home/home.ts')]);
  const home = findHome(context, options);
  const { name } = plan.pipeline;
  const found = await selectRun(home, {
    prefix: reuseFrom,
    accept: ({ pipeline }) => pipeline === name,
    which: ` of pipeline ${name}`,
    options,
  });
  return found.ok ? ok({ reuse: { runId: found.value.runId, from } }) : found;
}
