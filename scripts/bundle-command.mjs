// Makes one program of the `sluice` command out of the compiled packages (docs/decisions/0010-bundle.md). The packages
// stay as they are for programs that import them.
import { dirname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const service = join(root, 'packages', 'service', 'dist');

/** The service finds its compiled programs beside its own files: its modules must go on saying where they came from. */
const keepPlaces = {
  name: 'keep-places',
  transform(code, id) {
    if (!id.startsWith(service + sep) || !code.includes('import.meta.url')) return undefined;
    const place = JSON.stringify(`./${relative(service, id).split(sep).join('/')}`);
    const url = `new URL(${place}, import.meta.resolve('@sluice/service')).href`;
    return { code: code.replaceAll('import.meta.url', url), map: null };
  },
};

const bundle = await rolldown({
  input: { main: join(root, 'packages', 'cli', 'dist', 'main.js') },
  platform: 'node',
  // Both load files from beside their own: lmdb a compiled library, ssh2 parts of itself.
  external: ['lmdb', 'ssh2', /\.node$/],
  plugins: [keepPlaces],
});
await bundle.write({ dir: join(root, 'packages', 'cli', 'dist', 'bundle'), format: 'esm', cleanDir: true });
await bundle.close();
