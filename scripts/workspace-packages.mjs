// Which packages the workspace has: read from pnpm-workspace.yaml and the directories, so that no script names them.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/**
 * Directories of the workspace's packages, relative to `root`, sorted. Runs before anything is installed, hence without a
 * YAML parser: the entries of `packages` are directories, or directories that end in `/*`.
 */
export function listWorkspaceDirectories(root) {
  const text = readFileSync(join(root, 'pnpm-workspace.yaml'), 'utf8');
  const block = /^packages:\n((?: +- .*\n)*)/m.exec(text)?.[1] ?? '';
  const patterns = [...block.matchAll(/- (\S+)/g)].map(([, pattern]) => pattern);
  return patterns
    .flatMap((pattern) => (pattern.endsWith('/*') ? listChildren(root, dirname(pattern)) : [pattern]))
    .filter((directory) => existsSync(join(root, directory, 'package.json')))
    .sort();
}

/** The packages that are published, each with its directory relative to `root` and its manifest. */
export function listPublishedPackages(root) {
  return listWorkspaceDirectories(root)
    .map((directory) => ({
      directory,
      manifest: JSON.parse(readFileSync(join(root, directory, 'package.json'), 'utf8')),
    }))
    .filter(({ manifest }) => manifest.private !== true);
}

function listChildren(root, directory) {
  const path = join(root, directory);
  return existsSync(path) ? readdirSync(path).map((name) => `${directory}/${name}`) : [];
}
