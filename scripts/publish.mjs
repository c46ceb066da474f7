// Usage: node scripts/publish.mjs DIRECTORY [--dry-run]   Publishes the tarballs of `scripts/pack.mjs --all` to npm, with
// provenance. A version that npm has already is left out, so that a release that stopped halfway can be run again.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { ROOT } from './workspace.mjs';
import { listPublishedPackages } from './workspace-packages.mjs';

const [directory, ...options] = process.argv.slice(2);
if (directory === undefined) {
  console.error('usage: node scripts/publish.mjs DIRECTORY [--dry-run]');
  process.exit(2);
}
const packages = inOrder(listPublishedPackages(ROOT).map(({ manifest }) => manifest));
const tarballs = packages.map(({ name, version }) =>
  resolve(directory, `${name.replace('@', '').replace('/', '-')}-${version}.tgz`),
);
const missing = tarballs.filter((path) => !existsSync(path));
if (missing.length > 0) stop(`not packed: ${missing.join(', ')}`);

for (const [index, { name, version }] of packages.entries()) {
  if (isPublished(name, version)) {
    console.log(`${name}@${version} is published already`);
    continue;
  }
  // A user's configuration for this command only; the workspace has none that npm should read.
  const command = ['publish', tarballs[index], '--access', 'public', ...provenance(), ...options];
  const { status } = spawnSync('npm', command, { stdio: 'inherit', cwd: join(ROOT, 'scripts') });
  if (status !== 0) stop(`could not publish ${name}@${version}`);
}

/** Dependencies first: a user who installs meanwhile finds all of them. */
function inOrder(manifests) {
  const byName = new Map(manifests.map((manifest) => [manifest.name, manifest]));
  const ordered = new Set();
  const add = (manifest) => {
    for (const name of Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies })) {
      if (byName.has(name)) add(byName.get(name));
    }
    ordered.add(manifest);
  };
  for (const manifest of manifests) add(manifest);
  return [...ordered];
}

function isPublished(name, version) {
  return spawnSync('npm', ['view', `${name}@${version}`, 'version'], { encoding: 'utf8' }).stdout.trim() === version;
}

/** Only a CI system can prove where it built something. */
function provenance() {
  return process.env.GITHUB_ACTIONS === 'true' ? ['--provenance'] : [];
}

function stop(message) {
  console.error(message);
  process.exit(1);
}
