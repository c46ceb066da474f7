// Compiles the programs of packages/service/native with the C compiler that is there. They are accelerators and
// witnesses: without a compiler the engines do the same by other means, hence nothing here fails the build.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const native = join(dirname(dirname(fileURLToPath(import.meta.url))), 'packages', 'service', 'native');
const flags = ['-std=gnu11', '-O2', '-Wall', '-Wextra'];
/** The launcher's way without namespaces knows these processors. */
const translates = ['x64', 'arm64'].includes(process.arch);
if (!translates) flags.push('-DNO_TRANSLATION');
const programs = [
  {
    name: 'launcher',
    directory: native,
    shared: readdirSync(join(native, 'translation'))
      .filter((name) => translates || name.endsWith('.h'))
      .map((name) => join('translation', name)),
    // Static first: it starts faster and needs nothing; some distributions ship no static C library.
    linkings: [['-static'], []],
    without: 'containers start through sh instead',
  },
  {
    name: 'first-process',
    directory: join(native, 'first-process'),
    shared: ['children', 'line', 'output', 'start-error'].flatMap((name) => [`${name}.c`, `${name}.h`]),
    // It runs in images that may hold no C library at all.
    linkings: [['-static', '-s']],
    without: "ends and logs of containers are the daemon's own",
  },
];

if (process.platform === 'linux') for (const program of programs) build(program);

function build({ name, directory, shared, linkings, without }) {
  const target = join(native, 'build', name);
  const stamp = `${target}.sha256`;
  const own = readdirSync(directory).filter((file) => /\.[ch]$/.test(file));
  const files = [...own.map((file) => join(directory, file)), ...shared.map((file) => join(native, file))].sort();
  const hash = createHash('sha256').update(JSON.stringify([process.arch, flags, linkings]));
  for (const file of files) hash.update(`${basename(file)}\0`).update(readFileSync(file));
  const wanted = hash.digest('hex');
  if (readOr(stamp) === wanted) return;

  mkdirSync(dirname(target), { recursive: true });
  const units = files.filter((file) => file.endsWith('.c'));
  let reason = '';
  for (const linking of linkings) {
    const fresh = `${target}.${process.pid}`;
    const includes = [native, join(native, 'translation')].flatMap((path) => ['-I', path]);
    const result = spawnSync(process.env.CC ?? 'cc', [...flags, ...includes, ...linking, '-o', fresh, ...units], {
      encoding: 'utf8',
    });
    reason = result.error?.message ?? result.stderr;
    if (result.status !== 0) continue;
    // Also for the users that images name.
    chmodSync(fresh, 0o755);
    renameSync(fresh, target);
    writeFileSync(stamp, wanted);
    return;
  }
  console.warn(`note: ${name} was not compiled, ${without}: ${reason.trim()}`);
}

function readOr(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
