import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { NamedVolume, Plan } from '@sluice/core';
import { systemErrorCode } from '@sluice/host-system';
import { readExclusion } from '../trees/read-exclusion.ts';

/** A source that does not exist, cannot be reached, or whose exclusion is not valid. */
export interface MissingSource {
  readonly code: 'SOURCE_MISSING';
  readonly message: string;
  readonly hint?: string;
  /** The keys of the source in the pipeline file. */
  readonly path: readonly ['volumes', string, 'source'];
}

/** The volumes of a plan whose sources cannot be read. `baseDir` is the directory of the pipeline file. */
export async function findMissingSources(plan: Plan, baseDir: string): Promise<readonly MissingSource[]> {
  const missing: MissingSource[] = [];
  for (const [volume, { source, exclude }] of Object.entries(plan.pipeline.volumes)) {
    const fault = source === undefined ? undefined : await findFault(resolve(baseDir, source), { source, exclude });
    if (fault === undefined) continue;
    const message = `could not read the source of volume ${volume}: ${fault.reason}`;
    const path = ['volumes', volume, 'source'] as const;
    missing.push({ code: 'SOURCE_MISSING', message, path, ...(fault.hint !== undefined && { hint: fault.hint }) });
  }
  return missing;
}

async function findFault(
  local: string,
  { source = '', exclude }: { readonly [Key in 'source' | 'exclude']: NamedVolume[Key] | undefined },
): Promise<{ readonly reason: string; readonly hint?: string } | undefined> {
  try {
    await stat(local);
  } catch (error) {
    const isAbsent = systemErrorCode(error) === 'ENOENT';
    const reason = `${local}: ${isAbsent ? 'there is no such file or directory' : (error as Error).message}`;
    // Any part may be `~`: the path of a volume from `uses` begins with the directory of the used file.
    const isHome = source.split('/').some((part) => part.startsWith('~'));
    return { reason, ...(isHome && { hint: '`~` is not expanded: write the path in full' }) };
  }
  try {
    await readExclusion(local, exclude);
    return undefined;
  } catch (error) {
    return { reason: (error as Error).message };
  }
}
