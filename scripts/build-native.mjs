// Compiles the process engine's launcher with the C compiler that is there. It is an accelerator: without a compiler
// the engine does the same through `unshare` and `sh`, hence nothing here fails the build.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const native = join(dirname(dirname(fileURLToPath(import.meta.url))), 'packages', 'service', 'native');
const target = join(native, 'build', 'launcher');
const stamp = join(native, 'build', 'launcher.sha256');
const flags = ['-std=gnu11', '-O2', '-Wall', '-Wextra'];

if (process.platform === 'linux') build();

function build() {
  const sources = readdirSync(native)
    .filter((name) => /\.[ch]$/.test(name))
    .sort();
  const hash = createHash('sha256').update(JSON.stringify([process.arch, flags]));
  for (const name of sources) hash.update(`${name}\0`).update(readFileSync(join(native, name)));
  const wanted = hash.digest('hex');
  if (readOr(stamp) === wanted) return;

  mkdirSync(dirname(target), { recursive: true });
  const files = sources.filter((name) => name.endsWith('.c')).map((name) => join(native, name));
  // Static first: it starts faster and needs nothing; some distributions ship no static C library.
  for (const linking of [['-static'], []]) {
    const fresh = `${target}.${process.pid}`;
    const result = spawnSync(process.env.CC ?? 'cc', [...flags, ...linking, '-o', fresh, ...files], {
      encoding: 'utf8',
    });
    if (result.status !== 0) {
      if (linking.length === 0) notice(result.error?.message ?? result.stderr);
      continue;
    }
    renameSync(fresh, target);
    writeFileSync(stamp, wanted);
    return;
  }
}

function readOr(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

function notice(reason) {
  console.warn(
    `note: the process engine's launcher was not compiled, containers start through sh instead: ${reason.trim()}`,
  );
}
