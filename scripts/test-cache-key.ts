import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Vite } from 'vitest/node';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/**
 * A plugin that adds to the key of each transformed file what decides, beside its text, what it is transformed to and where its
 * imports lead: the manifests of the packages, and the options of the compiler. Vitest itself looks at the lock file.
 */
export function createCacheKey(): Vite.Plugin {
  const hash = createHash('sha256').update(readFileSync(join(ROOT, 'tsconfig.base.json')));
  for (const name of readdirSync(join(ROOT, 'packages')).sort()) {
    const manifest = join(ROOT, 'packages', name, 'package.json');
    if (existsSync(manifest)) hash.update(readFileSync(manifest));
  }
  const key = hash.digest('hex');
  const addKey = () => key;
  return {
    name: 'sluice-cache-key',
    configureVitest: ({ experimental_defineCacheKeyGenerator: define }) => define(addKey),
  };
}
