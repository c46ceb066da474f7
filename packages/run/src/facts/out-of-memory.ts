import type { Scheduler } from '../scheduler/scheduler.ts';
import type { RunFacts } from './run-facts.ts';

interface MemorySource {
  readonly facts: Pick<RunFacts, 'cells' | 'known'>;
  readonly scheduler: Pick<Scheduler, 'state'>;
}

/** Whether the last attempt of a cell ended for lack of memory. */
export function cellIsOutOfMemory({ facts }: Pick<MemorySource, 'facts'>, step: number, cell: number): boolean {
  const last = facts.known[step]?.[cell]?.attempts.at(-1)?.outcome;
  return last?.result === 'failed' && last.class === 'oom';
}

/** Whether all cells of a step that failed by themselves, and at least one, ran out of memory. */
export function stepIsOutOfMemory(source: MemorySource, step: number): boolean {
  const failed = (source.facts.cells[step] ?? []).flatMap((_, cell) =>
    source.scheduler.state(step, cell) === 'failed' ? [cell] : [],
  );
  return failed.length > 0 && failed.every((cell) => cellIsOutOfMemory(source, step, cell));
}
