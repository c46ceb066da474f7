import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, it } from 'vitest';

/** Inputs from outside the repository; tests over them skip visibly where they are absent, and fail in CI. */
export const DATA = new URL('../../../../shared/data/', import.meta.url);

export const itWithData: typeof it = existsSync(DATA) || process.env.CI === 'true' ? it : (it.skip as typeof it);

export function readGzip(path: string): string {
  return gunzipSync(readFileSync(new URL(path, DATA))).toString('utf8');
}

/** Unpacks an archive for the time of the test file, and gives its directory. */
export function unpack(path: string): string {
  const directory = mkdtempSync(join(tmpdir(), 'sluice-core-'));
  afterAll(() => rmSync(directory, { recursive: true, force: true }));
  if (existsSync(DATA)) execFileSync('tar', ['xzf', new URL(path, DATA).pathname, '-C', directory]);
  return directory;
}
