import { dirname, join, normalize } from 'node:path/posix';

/**
 * The folders of a package's `src`, from the lowest to the highest: each may import only from those before it. `.` stands
 * for the files beside `index.ts`; folders without a layer of their own belong to the one that they lie in.
 */
export const LAYERS = {
  run: [
    '.',
    'scheduler/model',
    'scheduler/state',
    'scheduler/view',
    'scheduler/flow',
    'scheduler',
    'schemas',
    'records',
    'facts',
    'grid',
    'report',
    'view',
    'explain',
  ],
  home: ['.', 'identity', 'journal', 'runs', 'follow', 'control', 'groups', 'pools', 'schedule', 'reuse', 'explain'],
  runner: [
    '.',
    'trace',
    'session',
    'trees',
    'placement',
    'data',
    'cache',
    'watch',
    'concurrency',
    'submission',
    'run',
    'schedule',
    'gc',
  ],
  service: [
    '.',
    'protocol',
    'storage',
    'engines',
    'config',
    'store',
    'accounts',
    'volumes',
    'proxy',
    'containers',
    'calls',
    'api',
    'service',
  ],
  dashboard: ['model', 'layout', 'api', 'live', 'draw', 'parts', 'actions', 'log', 'screens', '.'],
  host: ['schemas', 'errors', 'control', 'runs', 'events', 'api', 'metrics', 'execute', 'listener', 'hosted', '.'],
  cli: [
    'text',
    'run-api',
    'json',
    'context',
    'home',
    'bundle',
    'connect',
    'pipeline',
    'render',
    'runs',
    'hosting',
    'library',
    'commands',
    'command-line',
    '.',
  ],
};
const IMPORT = /(?:^|\s)(?:import|export)\s[^'"]*?from\s+'(\.[^']+)'|(?:^|[^.\w])import\s*\(?\s*'(\.[^']+)'/g;

/** Imports between the folders of a package point one way, down the table. */
export function check({ files }) {
  return Object.entries(LAYERS).flatMap(([name, layers]) => {
    const imports = findImports(files, name);
    const known = new Set(layers);
    const missing = new Map(
      imports.filter(({ from }) => !known.has(from)).map(({ from, file }) => [from, { file, line: 1 }]),
    );
    return [
      ...[...missing].map(([folder, at]) => ({ ...at, message: `the folder ${folder} has no place in the layers` })),
      ...imports
        .filter(({ from, to }) => known.has(from) && layers.indexOf(to) > layers.indexOf(from))
        .map(({ file, line, from, to }) => ({
          file,
          line,
          message: `${from} may not import from ${to}, a higher layer`,
        })),
    ];
  });
}

/** Every import from one folder of a package's sources to another; `index.ts` imports from all and is left out. */
export function findImports(files, name) {
  const src = `packages/${name}/src`;
  return files
    .filter(({ path }) => path.startsWith(`${src}/`) && /\.tsx?$/.test(path) && path !== `${src}/index.ts`)
    .flatMap(({ path, lines }) => {
      const text = lines.join('\n');
      const folderOf = (file) => layerOf(name, dirname(file).slice(src.length + 1) || '.');
      return [...text.matchAll(IMPORT)]
        .map((match) => ({
          file: path,
          line: text.slice(0, match.index + match[0].length).split('\n').length,
          from: folderOf(path),
          to: folderOf(normalize(join(dirname(path), match[1] ?? match[2]))),
        }))
        .filter(({ from, to }) => from !== to);
    });
}

/** The layer that a folder belongs to; the folder itself where it has none. */
function layerOf(name, folder) {
  for (let above = folder; above !== '.'; above = dirname(above)) if (LAYERS[name].includes(above)) return above;
  return folder;
}
