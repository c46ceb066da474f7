import { join, normalize } from 'node:path/posix';

/** Which of our packages each may import (ARCHITECTURE.md). */
const MAY_IMPORT = {
  'host-system': [],
  core: [],
  client: [],
  run: ['core'],
  home: ['host-system', 'core', 'run'],
  runner: ['host-system', 'core', 'client', 'run', 'home'],
  service: ['host-system', 'core', 'client'],
  host: ['host-system', 'core', 'client', 'run', 'home', 'runner'],
  // Of host only types: it runs in a browser.
  dashboard: ['core', 'host', 'run'],
  cli: ['host-system', 'core', 'client', 'run', 'home', 'runner', 'service', 'host', 'dashboard'],
};
/** The only names that a package may import from another one: a service knows nothing of pipelines. */
const ONLY_NAMES = { service: { core: ['durationSchema', 'parseDuration', 'parseSize', 'sizeSchema'] } };
const IMPORT = /(?:^|\s)(?:import|export)\s[^'"]*?from\s+'([^']+)'|(?:^|[^.\w])import\s*\(?\s*'([^']+)'/g;

/** Imports between packages point one way, go through the front door, and stand in package.json. */
export function check({ files }) {
  return files.flatMap((file) => {
    const name = /^packages\/([^/]+)\//.exec(file.path)?.[1];
    if (name === undefined || !(name in MAY_IMPORT)) return [];
    if (file.path === `packages/${name}/package.json`) return checkManifest(file, name);
    if (/^packages\/[^/]+\/(src|contract|test)\/.*\.tsx?$/.test(file.path)) return checkImports(file, name);
    return [];
  });
}

function checkManifest(file, name) {
  const { dependencies = {}, devDependencies = {} } = JSON.parse(file.lines.join('\n'));
  return Object.keys({ ...dependencies, ...devDependencies })
    .map(packageOf)
    .filter((other) => other !== undefined && !MAY_IMPORT[name].includes(other))
    .map((other) => ({ file: file.path, line: 1, message: `${name} may not depend on ${other}` }));
}

function checkImports(file, name) {
  const home = `packages/${name}/`;
  const faults = [];
  // Line by line is not enough: a list of names may span several.
  // Programs that a test writes down in a template are not its own imports.
  const text = file.lines.join('\n').replace(/`[^`]*`/g, (template) => template.replace(/[^\n]/g, ' '));
  for (const match of text.matchAll(IMPORT)) {
    const target = match[1] ?? match[2];
    const line = text.slice(0, match.index + match[0].length).split('\n').length;
    const other = packageOf(target);
    const inTest = file.path.startsWith(`${home}test/`);
    if (target.startsWith('.') && !isWithin(normalize(join(file.path, '..', target)), { name, inTest })) {
      faults.push({ file: file.path, line, message: `"${target}" reaches into another package past its index.ts` });
    } else if (!inTest && other !== undefined && other !== name && !MAY_IMPORT[name].includes(other)) {
      faults.push({ file: file.path, line, message: `${name} may not import ${other}` });
    }
    for (const word of inTest ? [] : listForbidden(match[0], ONLY_NAMES[name]?.[other]))
      faults.push({ file: file.path, line, message: `${name} may not import ${word} of ${other}` });
  }
  return faults;
}

/** The imported names that are not allowed; `allowed` is undefined where all are. */
function listForbidden(statement, allowed) {
  if (allowed === undefined) return [];
  const names = /\{([^}]*)\}/.exec(statement)?.[1].split(',') ?? ['everything'];
  return names
    .map((name) => name.replace(/^\s*type\s|\sas\s.*/g, '').trim())
    .filter((name) => name !== '' && !allowed.includes(name));
}

/** Whether a file belongs to the package, or, for a test, to the tests of a package that it may import. */
function isWithin(path, { name, inTest }) {
  const [, other, folder] = /^packages\/([^/]+)\/([^/]+)\//.exec(path) ?? [];
  return other === name || (inTest && folder === 'test' && MAY_IMPORT[name].includes(other));
}

function packageOf(specifier) {
  if (specifier === 'sluice') return 'cli';
  return /^@sluice\/([^/]+)/.exec(specifier)?.[1];
}
