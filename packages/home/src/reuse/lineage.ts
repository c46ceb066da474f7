import { type Fingerprint, findSharedRead, type Result } from '@sluice/core';
import { type ContextSource, isFannedOut } from '@sluice/run';
import { digestCell } from './digest-cell.ts';
import { hashText } from './hash-text.ts';

/** What a step passes on to the steps after it about the work up to its end. */
export interface Lineage {
  /** A step that was executed in this run: this one, or one before it if this one does no work of its own. */
  readonly worked?: number;
  /** Equal digests mean that the same attempts came before. */
  readonly digest: string;
}

/**
 * Creates a function that gives the lineage of a step whose dependents can start. A step that did work, in this run or in
 * the one that is reused, is its own lineage. All others pass on that of the steps before them: approvals, skipped steps and
 * steps without cells, and services, which add the identity of their program. Each step is visited once.
 */
export function createLineage(
  run: ContextSource,
  fingerprint: (step: number, cell: number) => Result<Fingerprint, unknown>,
): (step: number) => Lineage {
  const known = new Map<number, Lineage>();
  const { plan, facts, scheduler } = run;

  function hasWork(step: number): boolean {
    const { service, approval } = plan.steps[step]!.step;
    if (service !== undefined || approval !== undefined) return false;
    return (facts.cells[step] ?? []).some((_, cell) => scheduler.state(step, cell) !== 'skipped');
  }

  function describeWork(step: number): Lineage {
    const cells = facts.cells[step] ?? [];
    const isExecuted = cells.some((_, cell) => !REUSED.has(scheduler.state(step, cell)));
    const parts = cells.map(({ key, matrix, item }, cell) => [key, matrix, item, digestCell(run, step, cell)]);
    const digest = isFannedOut(run, step) ? hashText(JSON.stringify(parts)) : digestCell(run, step, 0);
    return { digest, ...(isExecuted && { worked: step }) };
  }

  function passOn(step: number): Lineage {
    const { step: spec, dependencies } = plan.steps[step]!;
    const before = dependencies.map(({ on }) => known.get(on)!);
    const isServing = spec.service !== undefined && scheduler.state(step) !== 'skipped';
    const program = isServing ? describeService(step) : '';
    if (program === undefined) return { worked: step, digest: digestCell(run, step, 0) };
    const worked = before.find((one) => one.worked !== undefined)?.worked;
    const digest = hashText(JSON.stringify([program, ...before.map((one) => one.digest)]));
    return { digest, ...(worked !== undefined && { worked }) };
  }

  /** Undefined: the program does not determine what the service does, so each of its attempts is another service. */
  function describeService(step: number): string | undefined {
    const { step: spec } = plan.steps[step]!;
    if (FAILED.has(scheduler.state(step)) || findSharedRead(spec, plan.pipeline) !== undefined) return undefined;
    const made = fingerprint(step, 0);
    return made.ok ? made.value.digest : undefined;
  }

  return (step) => {
    // A list instead of recursion, because chains of skipped steps can be long.
    const open = [step];
    for (let at = open.at(-1); at !== undefined; at = open.at(-1)) {
      const isWork = hasWork(at);
      const before = open.length;
      if (!isWork && !known.has(at)) {
        for (const { on } of plan.steps[at]!.dependencies) if (!known.has(on)) open.push(on);
      }
      if (open.length > before) continue;
      open.pop();
      if (!known.has(at)) known.set(at, isWork ? describeWork(at) : passOn(at));
    }
    return known.get(step)!;
  };
}

const REUSED: ReadonlySet<string> = new Set(['cached', 'skipped']);
const FAILED: ReadonlySet<string> = new Set(['failed', 'errored', 'timedOut']);
