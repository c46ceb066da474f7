import type { RunFacts } from '../facts/run-facts.ts';
import { urlOf } from '../facts/step-context.ts';
import type { Scheduler } from '../scheduler/scheduler.ts';
import type { CellView } from '../schemas/cell.ts';

/** `ports` of a cell: those that its running container exposes, by name; nothing if there are none, or it does not run. */
export function exposedPorts(
  { facts, scheduler }: { readonly facts: RunFacts; readonly scheduler: Scheduler },
  step: number,
  cell: number,
): { readonly ports?: NonNullable<CellView['ports']> } {
  if (scheduler.state(step, cell) !== 'running') return {};
  const { ports = {} } = facts.known[step]?.[cell]?.attempts.at(-1)?.container ?? {};
  const exposed = Object.entries(ports).flatMap(([name, { host }]) => {
    const { url } = host === undefined ? {} : urlOf({ host });
    return url === undefined ? [] : [[name, { url }] as const];
  });
  return exposed.length === 0 ? {} : { ports: Object.fromEntries(exposed) };
}
