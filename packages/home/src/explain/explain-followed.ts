import type { Result } from '@sluice/core';
import {
  type CellExplanation,
  explainAttempts,
  explainDependencies,
  explainUpstream,
  explainWait,
  joinHistory,
  type RunError,
  suggestPlainly,
} from '@sluice/run';
import type { RunFollower } from '../follow/follow-run.ts';
import { explainCache } from './explain-cache.ts';

/**
 * Explains a cell of a followed run as `explainStep` does, without a replay of the journal. `read` returns the earlier run
 * with which the cell is compared.
 */
export async function explainFollowed(
  run: RunFollower,
  { step, cell }: { readonly step: number; readonly cell: number },
  read: (runId: string) => Promise<Result<RunFollower, RunError>>,
): Promise<CellExplanation> {
  const replayed = replayedOf(run);
  const { facts } = replayed;
  const history = joinHistory(run.model.moves.of(step, cell), await run.readLines(step, cell));
  const wait = explainWait(replayed, { step, cell, history, suggest: suggestPlainly });
  const explained = {
    step: facts.plan.steps[step]!.step,
    key: facts.cells[step]?.[cell]?.key ?? '',
    known: facts.known[step]?.[cell],
  };
  return {
    ...(wait && { wait }),
    dependencies: explainDependencies(replayed, step, cell),
    ...explainUpstream(replayed, step, cell),
    attempts: explainAttempts(replayed, step, cell),
    cache: await explainCache(replayed, explained, async (runId) => {
      const earlier = await read(runId);
      return earlier.ok ? { ok: true, value: replayedOf(earlier.value) } : earlier;
    }),
    history,
  };
}

function replayedOf({ runId, directory, model: { facts, scheduler } }: RunFollower) {
  return { runId, directory, facts, scheduler };
}
