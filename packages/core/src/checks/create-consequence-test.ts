import type { Path } from '../parse/source-document.ts';
import type { Fault } from './fault.ts';

/**
 * Returns a test whether a fault only follows from a `known` one: the map that should contain a name could not be read.
 * Its cost per fault does not depend on the number of known faults; both may be thousands.
 */
export function createConsequenceTest(known: readonly Fault[]): (fault: Fault) => boolean {
  const unread = new Set<string>();
  const parents = new Set<string>();
  const around = new Set<string>();
  /** By map: the names that its misspelled keys may stand for. */
  const meant = new Map<string, Set<string>>();
  for (const { path, code, hint } of known) {
    unread.add(keyOf(path));
    if (path.length > 0) parents.add(keyOf(path.slice(0, -1)));
    for (let length = 0; length <= path.length; length++) around.add(keyOf(path.slice(0, length)));
    if (code !== 'unknown-key' || hint === undefined) continue;
    const map = keyOf(path.slice(0, -1));
    const names = meant.get(map) ?? new Set();
    for (const [, name = ''] of hint.matchAll(/`([^`]+)`/g)) names.add(name);
    meant.set(map, names);
  }
  return ({ lookedIn, code }) => {
    if (lookedIn === undefined) return false;
    if (code === 'nothing-to-run' && around.has(keyOf(lookedIn))) return true;
    if (parents.has(keyOf(lookedIn))) return true;
    for (let length = 0; length <= lookedIn.length; length++) {
      const prefix = keyOf(lookedIn.slice(0, length));
      if (unread.has(prefix)) return true;
      const names = meant.get(prefix);
      if (names !== undefined && lookedIn.slice(length).some((key) => names.has(String(key)))) return true;
    }
    return false;
  };
}

function keyOf(path: Path): string {
  return path.join('\0');
}
