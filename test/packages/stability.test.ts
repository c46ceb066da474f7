import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
// @ts-expect-error A script, which has no types.
import { listPublishedPackages } from '../../scripts/workspace-packages.mjs';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

test('docs/library.md, the README and the description of each package say whether it is public', () => {
  const page = readFileSync(join(ROOT, 'docs/library.md'), 'utf8');
  const [, table = ''] = page.split('\n## Packages\n');
  const rows = [...table.matchAll(/^\| (`.*?) \|.*\| (public|internal) \|$/gm)];
  const documented = rows.flatMap(([, names = '', stability]) =>
    [...names.matchAll(/`([^`]+)`/g)].map(([, name]) => [name, stability]),
  );
  const packages: { directory: string; manifest: { name: string; description: string } }[] =
    listPublishedPackages(ROOT);
  const found = packages.map(({ directory, manifest }) => {
    const readme = readFileSync(join(ROOT, directory, 'README.md'), 'utf8');
    const isInternal = [/\(internal part of sluice\)$/.test(manifest.description), /no public interface/.test(readme)];
    expect(new Set(isInternal).size, manifest.name).toBe(1);
    return [manifest.name, isInternal[0] ? 'internal' : 'public'];
  });
  expect(documented.sort()).toEqual(found.sort());
});
