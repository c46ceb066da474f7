import { type BigIntStats, readdirSync, readFileSync, statSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { HOME_MARK } from '@sluice/host-system';

/** The only directory of a home that users create themselves. */
const SECRETS = 'secrets';

/**
 * Identifies a directory, also inside containers that mount it: its inode and creation time. A copy, or a directory
 * from an archive or a repository, has a different identity, which its author cannot predict.
 */
export function identifyDirectory({ ino, birthtimeNs }: Pick<BigIntStats, 'ino' | 'birthtimeNs'>): string {
  return `${ino}-${birthtimeNs}`;
}

/** Whether Sluice created the home at this place, or the home contains nothing yet that can start programs. */
export function isEmptyOrCreatedHere(home: string): boolean {
  // Read before the mark: a process that is just creating this home writes the mark before anything else.
  const hasState = readdirSync(home, { withFileTypes: true }).some(
    (entry) => !entry.isFile() && entry.name !== SECRETS,
  );
  return !hasState || readMark(home) === identifyDirectory(statSync(home, { bigint: true }));
}

/** Marks a home without state as created here. Durable before anything else is written to it. */
export async function markCreatedHere(home: string): Promise<void> {
  const identity = identifyDirectory(statSync(home, { bigint: true }));
  if (readMark(home) === identity || !isEmptyOrCreatedHere(home)) return;
  await writeFile(join(home, HOME_MARK), `${identity}\n`, { mode: 0o600, flush: true });
}

function readMark(home: string): string | undefined {
  try {
    return readFileSync(join(home, HOME_MARK), 'utf8').trimEnd();
  } catch {
    return undefined;
  }
}
