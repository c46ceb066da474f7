// Builds the static files of the dashboard, unless they were built from the same sources and packages before.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const home = join(root, 'packages', 'dashboard');
const stamp = join(root, '.cache', 'dashboard-built-from');

const wanted = fingerprint();
const isBuilt = existsSync(join(home, 'dist', 'index.html')) && existsSync(stamp);
if (!isBuilt || readFileSync(stamp, 'utf8') !== wanted) {
  const vite = join(home, 'node_modules', 'vite', 'bin', 'vite.js');
  const { status, stdout, stderr } = spawnSync(process.execPath, [vite, 'build', '--logLevel', 'warn'], {
    cwd: home,
    encoding: 'utf8',
  });
  if (status !== 0) {
    process.stderr.write(`could not build the dashboard:\n${stdout}${stderr}`);
    process.exit(1);
  }
  mkdirSync(dirname(stamp), { recursive: true });
  writeFileSync(stamp, wanted);
}

function fingerprint() {
  const hash = createHash('sha256');
  const sources = [join(home, 'src'), join(root, 'packages', 'run', 'src')]
    .flatMap((directory) => readdirSync(directory, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
  for (const file of [...sources, join(home, 'index.html'), join(home, 'vite.config.ts'), join(root, 'pnpm-lock.yaml')])
    hash.update(file).update('\0').update(readFileSync(file)).update('\0');
  return hash.digest('hex');
}
