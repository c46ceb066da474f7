// Makes one program of the `sluice` command out of the compiled packages, and compiles it (docs/decisions/0010-bundle.md).
// The packages stay as they are for programs that import them.
import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import module from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { compiledName } from '../packages/cli/bin/load-command.js';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const service = join(root, 'packages', 'service', 'dist');
const directory = join(root, 'packages', 'cli', 'dist', 'bundle');
const DAY_MS = 24 * 3_600_000;

/** The service finds its compiled programs beside its own files: its modules must go on saying where they came from. */
const keepPlaces = {
  name: 'keep-places',
  transform(code, id) {
    if (!id.startsWith(service + sep) || !code.includes('import.meta.url')) return undefined;
    const place = JSON.stringify(`./${relative(service, id).split(sep).join('/')}`);
    const url = `new URL(${place}, require('node:url').pathToFileURL(require.resolve('@sluice/service'))).href`;
    return { code: code.replaceAll('import.meta.url', url), map: null };
  },
};

const bundle = await rolldown({
  input: { main: join(root, 'packages', 'cli', 'dist', 'main.js') },
  platform: 'node',
  // Its main file is UMD, whose `require` calls a bundler cannot see.
  resolve: { alias: { 'jsonc-parser': 'jsonc-parser/lib/esm/main.js' } },
  // Both load files from beside their own: lmdb a compiled library, ssh2 parts of itself.
  external: ['lmdb', 'ssh2', /\.node$/],
  plugins: [keepPlaces],
});
const { output } = await bundle.generate({
  format: 'cjs',
  entryFileNames: '[name].cjs',
  chunkFileNames: '[name]-[hash].cjs',
});
await bundle.close();
const isNew = output.some(({ fileName, code }) => {
  const file = join(directory, fileName);
  return !existsSync(file) || readFileSync(file, 'utf8') !== code;
});
if (isNew) {
  mkdirSync(directory, { recursive: true });
  removeOld();
  for (const { fileName, code } of output) writeFileSync(join(directory, fileName), code);
}
const hasCompiled = existsSync(compiledName(join(directory, 'main.cjs')));
if (!hasCompiled && module.enableCompileCache === undefined) compile();

/**
 * What was compiled goes, by whatever Node.js: it tells that of another text by the text's length only. A command that
 * runs loads some of its chunks late: those of the build that it may have begun with stay for a day.
 */
function removeOld() {
  for (const name of readdirSync(directory)) {
    const file = join(directory, name);
    const isOld = Date.now() - statSync(file).mtimeMs > DAY_MS;
    if (isOld || name.endsWith('.compiled')) rmSync(file, { recursive: true });
  }
}

/** Runs the commonest commands once. Where one cannot run here, less is compiled, and nothing is wrong. */
function compile() {
  const cwd = mkdtempSync(join(tmpdir(), 'sluice-compile-'));
  const pipeline = `version: 1
name: compile
steps:
  make: { command: [sh, -c, 'echo 1 > /made/one'], outputs: { made: /made } }
  use: { command: ['true'], inputs: { made: make.made } }
`;
  writeFileSync(join(cwd, 'pipeline.yaml'), pipeline);
  try {
    for (const args of [['--help'], ['run', 'pipeline.yaml'], ['plan', 'pipeline.yaml'], ['show'], ['runs']]) {
      const command = [join(root, 'scripts', 'compile-command.mjs'), ...args, '--home', join(cwd, 'home')];
      spawnSync(process.execPath, command, { cwd, stdio: 'ignore', timeout: 30_000 });
    }
  } finally {
    rmSync(cwd, { recursive: true, force: true });
  }
}
