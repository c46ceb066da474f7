import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Plan } from '@sluice/core';
import { systemErrorCode } from '@sluice/host-system';

/** A source that does not exist or cannot be reached. */
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
  for (const [volume, { source }] of Object.entries(plan.pipeline.volumes)) {
    if (source === undefined) continue;
    const local = resolve(baseDir, source);
    try {
      await stat(local);
    } catch (error) {
      const code = systemErrorCode(error);
      const reason = code === 'ENOENT' ? 'there is no such file or directory' : (error as Error).message;
      const message = `could not read the source of volume ${volume}: ${local}: ${reason}`;
      // Any part may be `~`: the path of a volume from `uses` begins with the directory of the used file.
      const isHome = source.split('/').some((part) => part.startsWith('~'));
      const path = ['volumes', volume, 'source'] as const;
      missing.push({
        code: 'SOURCE_MISSING',
        message,
        path,
        ...(isHome && { hint: '`~` is not expanded: write the path in full' }),
      });
    }
  }
  return missing;
}
