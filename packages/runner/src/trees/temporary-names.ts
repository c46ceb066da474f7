import { createHash, randomBytes } from 'node:crypto';
import { readdir, rm, stat } from 'node:fs/promises';
import path from 'node:path';

/** Temporary files of a killed delivery are removed by the next delivery after this time, by one of the same run at once. */
const LEFTOVER_MS = 7 * 24 * 3_600_000;

/** Unique names next to a target, which show the target and the owner. */
export interface TemporaryNames {
  readonly prefix: string;
  readonly ownPrefix: string | undefined;
  fresh(kind: 'new' | 'old'): string;
}

/** The temporary names for a delivery to `target`. `owner` is a name that only one process uses at a time. */
export function temporaryNames(target: string, owner: string | undefined): TemporaryNames {
  const hash = createHash('sha256').update(path.basename(target)).digest('hex').slice(0, 12);
  const prefix = `.sluice-${hash}-`;
  const ownPrefix = `${prefix}${owner ?? 'pull'}-`;
  const parent = path.dirname(target);
  const fresh = (kind: string) => path.join(parent, `${ownPrefix}${randomBytes(6).toString('hex')}.${kind}`);
  return { prefix, ownPrefix: owner && ownPrefix, fresh };
}

/** Removes what killed deliveries to the same target have left in `parent`; results that were set aside stay. */
export async function removeLeftovers(
  parent: string,
  { prefix, ownPrefix }: TemporaryNames,
  now: number,
): Promise<void> {
  for (const name of await readdir(parent)) {
    const leftover = path.join(parent, name);
    if (!name.startsWith(prefix) || name.endsWith('.old')) continue;
    const isOwn = ownPrefix !== undefined && name.startsWith(ownPrefix);
    const age = now - ((await stat(leftover).catch(() => undefined))?.mtimeMs ?? now);
    if (isOwn || age > LEFTOVER_MS) await rm(leftover, { recursive: true, force: true });
  }
}
