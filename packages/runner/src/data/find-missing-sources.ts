import { stat } from 'node:fs/promises';
import path from 'node:path';
import type { Plan } from '@sluice/core';
import { systemErrorCode } from '@sluice/host-system';

/** A volume whose source cannot be read. */
export interface MissingSource {
  readonly volume: string;
  readonly message: string;
  readonly hint?: string;
}

/** The volumes of a plan whose sources cannot be read. `baseDir` is the directory of the pipeline file. */
export async function findMissingSources(plan: Plan, baseDir: string): Promise<readonly MissingSource[]> {
  const missing: MissingSource[] = [];
  for (const [volume, { source }] of Object.entries(plan.pipeline.volumes)) {
    if (source === undefined) continue;
    const local = path.resolve(baseDir, source);
    try {
      await stat(local);
    } catch (error) {
      const code = systemErrorCode(error);
      const reason = code === 'ENOENT' ? 'there is no such file or directory' : (error as Error).message;
      const message = `could not read the source of volume ${volume}: ${local}: ${reason}`;
      // Any part may be `~`: the path of a volume from `uses` begins with the directory of the used file.
      const isHome = source.split('/').some((part) => part.startsWith('~'));
      missing.push({ volume, message, ...(isHome && { hint: '`~` is not expanded: write the path in full' }) });
    }
  }
  return missing;
}
