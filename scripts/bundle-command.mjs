// Makes one program of the `sluice` command out of the sources of the packages (docs/decisions/0010-bundle.md). The packages
// stay as they are for programs that import them.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const sources = join(root, 'packages', 'service', 'src');
const directory = join(root, 'packages', 'cli', 'dist', 'bundle');
const DAY_MS = 24 * 3_600_000;

/** Modules that look for files from where they are themselves: in the bundle they would look in the wrong place. */
const keepPlaces = {
  name: 'keep-places',
  transform(code, id) {
    if (id.endsWith(join('host', 'src', 'hosted', 'open-order-planner.ts'))) {
      const worker = "createRequire(import.meta.url).resolve('@sluice/host/plan-worker')";
      return { code: replaceOnce(code, worker, '`${__dirname}/plan-worker.cjs`'), map: null };
    }
    if (!id.startsWith(sources + sep) || !code.includes('import.meta.url')) return undefined;
    const place = JSON.stringify(`./src/${relative(sources, id).split(sep).join('/')}`);
    const manifest = "require.resolve('@sluice/service/package.json')";
    const url = `new URL(${place}, require('node:url').pathToFileURL(${manifest})).href`;
    return { code: code.replaceAll('import.meta.url', url), map: null };
  },
};

function replaceOnce(text, from, to) {
  const parts = text.split(from);
  if (parts.length !== 2) throw new Error(`could not find ${from} in the sources; change bundle-command.mjs, too`);
  return parts.join(to);
}

const bundle = await rolldown({
  input: {
    main: join(root, 'packages', 'cli', 'src', 'main.ts'),
    'plan-worker': join(root, 'packages', 'host', 'src', 'hosted', 'plan-worker.ts'),
  },
  platform: 'node',
  // The paths in those files lead from packages to declarations, which only the compiler reads.
  tsconfig: false,
  resolve: {
    conditionNames: ['sluice-source', 'node', 'import', 'default'],
    // Its main file is UMD, whose `require` calls a bundler cannot see.
    alias: { 'jsonc-parser': 'jsonc-parser/lib/esm/main.js' },
  },
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
