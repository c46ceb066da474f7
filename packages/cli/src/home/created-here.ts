import { type BigIntStats, readdirSync, readFileSync, statSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const MARK = 'made-here';
/** The one directory of a home that people make themselves. */
const SECRETS = 'secrets';

/**
 * What tells one directory from every other, and stays as it is in each container that mounts the directory: its inode and
 * when that was made. A copy, and what an archive or a repository brings, has another one, which its author cannot know.
 */
export function identifyDirectory({ ino, birthtimeNs }: Pick<BigIntStats, 'ino' | 'birthtimeNs'>): string {
  return `${ino}-${birthtimeNs}`;
}

/** Whether a home holds nothing yet that can start programs, or Sluice made it where it is. */
export function isEmptyOrCreatedHere(home: string): boolean {
  // Read first: a process that makes this home just now marks it before it puts anything into it.
  const hasState = readdirSync(home, { withFileTypes: true }).some(
    (entry) => !entry.isFile() && entry.name !== SECRETS,
  );
  return !hasState || readMark(home) === identifyDirectory(statSync(home, { bigint: true }));
}

/** Marks a home that holds nothing yet as made here. Durable before anything else is. */
export async function markCreatedHere(home: string): Promise<void> {
  const identity = identifyDirectory(statSync(home, { bigint: true }));
  if (readMark(home) === identity || !isEmptyOrCreatedHere(home)) return;
  await writeFile(join(home, MARK), `${identity}\n`, { mode: 0o600, flush: true });
}

function readMark(home: string): string | undefined {
  try {
    return readFileSync(join(home, MARK), 'utf8').trimEnd();
  } catch {
    return undefined;
  }
}
