import type { RunFacts } from '../facts/run-facts.ts';
import type { Scheduler } from '../scheduler/scheduler.ts';

/** Containers of a run wait at the service while only `service` steps of the run are running, which end after them. */
export interface ServiceHold {
  readonly services: readonly string[];
  /** Steps whose containers wait. */
  readonly waiting: readonly string[];
  /** Since when the first of them waits. */
  readonly since: number;
}

/**
 * Undefined if any other step of the run makes progress. Only the service knows its capacity: other runs may use it, and
 * then the wait may end.
 */
export function findServiceHold({
  facts,
  scheduler,
}: {
  facts: RunFacts;
  scheduler: Scheduler;
}): ServiceHold | undefined {
  const services: string[] = [];
  const waiting: string[] = [];
  let since = Number.POSITIVE_INFINITY;
  if (!facts.plan.steps.some(({ step }) => step.service)) return undefined;
  for (const { index, step } of facts.plan.steps) {
    for (let cell = 0; cell < (scheduler.cellCount(index) ?? 0); cell++) {
      const state = scheduler.state(index, cell);
      if (state === 'running' && step.service) {
        if (services.at(-1) !== step.name) services.push(step.name);
      } else if (state === 'pending') {
        if (waiting.at(-1) !== step.name) waiting.push(step.name);
        const submittedAt = facts.known[index]?.[cell]?.attempts.at(-1)?.submittedAt;
        since = Math.min(since, submittedAt ?? Number.POSITIVE_INFINITY);
      } else if (PROGRESSING.has(state)) return undefined;
    }
  }
  return services.length > 0 && waiting.length > 0 ? { services, waiting, since } : undefined;
}

const PROGRESSING: ReadonlySet<string> = new Set([
  'running',
  'submitting',
  'publishing',
  'checking',
  'awaitingApproval',
]);

/** The cause of the wait, and what the user can do. */
export function describeServiceHold({ services, waiting }: ServiceHold): string {
  return (
    `only ${list(services)} of this run can run, and ${list(waiting)} must wait at the service: steps with \`service\` ` +
    'keep their capacity there until their dependents have ended; give the service more (the embedded one: --cpu), let those steps request ' +
    'less (instanceType, resources), or limit the wait (queueTimeout)'
  );
}

function list(names: readonly string[]): string {
  return names.length > 3 ? `${names.slice(0, 3).join(', ')} and ${names.length - 3} more` : names.join(' and ');
}
