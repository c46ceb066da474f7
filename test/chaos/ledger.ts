import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** What the containers themselves say about who was started. */
export interface LedgerCheck {
  /** Lines, one for each start of a container. */
  readonly started: number;
  /** Cells of finished runs that no container was started for. */
  readonly lost: readonly string[];
  /** Attempts that were started more than once. */
  readonly doubled: readonly string[];
  /** Attempts after the first: only an end that could not be proven may ask for one. */
  readonly repeated: readonly string[];
}

/** Every ledger below a service's root, whatever volumes the runs have made. */
export function readLedger(root: string): string[] {
  if (!existsSync(root)) return [];
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('/lines'));
  return files.flatMap((file) => readFileSync(join(root, file), 'utf8').trimEnd().split('\n'));
}

export function checkLedger(
  lines: readonly string[],
  { runs, names }: { runs: readonly string[]; names: readonly string[] },
): LedgerCheck {
  const counts = new Map<string, number>();
  for (const line of lines) counts.set(line, (counts.get(line) ?? 0) + 1);
  const begun = new Set(lines.map((line) => line.split(' ').slice(0, 2).join(' ')));
  return {
    started: lines.length,
    lost: runs.flatMap((run) => names.map((name) => `${run} ${name}`)).filter((cell) => !begun.has(cell)),
    doubled: [...counts].filter(([, count]) => count > 1).map(([line]) => line),
    repeated: [...counts.keys()].filter((line) => !line.endsWith(' 1')),
  };
}
