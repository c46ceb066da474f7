// The programs of packages/service/native: their sources, and how they are compiled.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const NATIVE = join(dirname(dirname(fileURLToPath(import.meta.url))), 'packages', 'service', 'native');
const FLAGS = ['-std=gnu11', '-O2', '-Wall', '-Wextra'];
/** Processors whose system calls the launcher can translate. */
const TRANSLATED = ['x64', 'arm64'];

export const PROGRAMS = [
  { name: 'launcher', fallback: 'containers start through sh instead' },
  { name: 'first-process', fallback: "ends and logs of containers are the daemon's own" },
];

/**
 * Compiles a program for a processor into the file `target`, with the first of `linkings` that works. Returns undefined,
 * also where `target` is up to date already, or the reason why the compiler failed.
 */
export function compileProgram(name, { target, arch, compiler, linkings }) {
  const flags = [...FLAGS, ...(TRANSLATED.includes(arch) ? [] : ['-DNO_TRANSLATION'])];
  const files = sourcesOf(name, arch);
  const hash = createHash('sha256').update(JSON.stringify([arch, compiler, flags, linkings]));
  for (const file of files) hash.update(`${basename(file)}\0`).update(readFileSync(file));
  const wanted = hash.digest('hex');
  const stamp = `${target}.sha256`;
  if (readOr(stamp) === wanted) return undefined;

  mkdirSync(dirname(target), { recursive: true });
  const units = files.filter((file) => file.endsWith('.c'));
  const includes = [NATIVE, join(NATIVE, 'translation')].flatMap((path) => ['-I', path]);
  const fresh = `${target}.${process.pid}`;
  let reason = '';
  for (const linking of linkings) {
    const result = spawnSync(compiler, [...flags, ...includes, ...linking, '-o', fresh, ...units], {
      encoding: 'utf8',
    });
    reason = result.error?.message ?? result.stderr;
    if (result.status !== 0) continue;
    // Also for the users that images name.
    chmodSync(fresh, 0o755);
    renameSync(fresh, target);
    writeFileSync(stamp, wanted);
    return undefined;
  }
  return reason.trim();
}

function sourcesOf(name, arch) {
  const inside = (directory) => readdirSync(directory).map((file) => join(directory, file));
  const isSource = (file) => /\.[ch]$/.test(file);
  if (name === 'first-process') {
    const shared = ['children', 'line', 'output', 'start-error'].flatMap((unit) => [`${unit}.c`, `${unit}.h`]);
    return [...inside(join(NATIVE, name)), ...shared.map((file) => join(NATIVE, file))].filter(isSource).sort();
  }
  const translation = inside(join(NATIVE, 'translation')).filter(
    (file) => TRANSLATED.includes(arch) || file.endsWith('.h'),
  );
  return [...inside(NATIVE), ...translation].filter(isSource).sort();
}

function readOr(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
