// Usage: node scripts/pack.mjs DIRECTORY [--all]   (after `pnpm build`). Packs every published package of the workspace into
// a tarball in DIRECTORY and prints the tarballs' paths. Packages of `launchers` that this machine has no compiler for are
// left out; with --all that is an error.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pnpmCommand, ROOT } from './workspace.mjs';
import { listPublishedPackages } from './workspace-packages.mjs';

const [destination, ...options] = process.argv.slice(2);
if (destination === undefined) {
  console.error('usage: node scripts/pack.mjs DIRECTORY [--all]');
  process.exit(2);
}
mkdirSync(destination, { recursive: true });
const compiled = spawnSync(process.execPath, [join(ROOT, 'scripts/build-launchers.mjs'), ...options], {
  stdio: ['ignore', 'ignore', 'inherit'],
});
if (compiled.status !== 0) process.exit(1);
for (const { directory, manifest } of listPublishedPackages(ROOT)) {
  if (directory.startsWith('launchers/') && !existsSync(join(ROOT, directory, 'bin/launcher'))) continue;
  const command = pnpmCommand('pack', '--json', '--pack-destination', resolve(destination));
  const { status, stdout, stderr } = spawnSync(process.execPath, command, {
    cwd: join(ROOT, directory),
    encoding: 'utf8',
  });
  if (status !== 0) {
    console.error(`could not pack ${manifest.name}: ${stderr}${stdout}`);
    process.exit(1);
  }
  console.log(JSON.parse(stdout).filename);
}
