// Usage: node scripts/pack.mjs DIRECTORY   (after `pnpm build`). Packs every published package of the workspace into a
// tarball in DIRECTORY and prints the tarballs' paths.
import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pnpmCommand, ROOT } from './workspace.mjs';
import { listPublishedPackages } from './workspace-packages.mjs';

const destination = process.argv[2];
if (destination === undefined) {
  console.error('usage: node scripts/pack.mjs DIRECTORY');
  process.exit(2);
}
mkdirSync(destination, { recursive: true });
for (const { directory, manifest } of listPublishedPackages(ROOT)) {
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
