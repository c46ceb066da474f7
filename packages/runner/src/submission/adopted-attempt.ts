import type { AttemptName } from '../identity/container-id.ts';
import type { RunSession } from '../run/run-session.ts';

/** Key of a cell in what an adoption found. */
export function adoptedKey(name: Pick<AttemptName, 'step' | 'cell'>): string {
  return `${name.step}/${name.cell}`;
}

/**
 * Whether an adoption found a later attempt of the same cell: then this one is over, whatever the service still knows of
 * it, since attempt n + 1 begins only after the end of attempt n.
 */
export function hasAdoptedSuccessor(session: RunSession, name: AttemptName): boolean {
  return (session.facts.adopted?.[adoptedKey(name)] ?? 0) > name.attempt;
}
