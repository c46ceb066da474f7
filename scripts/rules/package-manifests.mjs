/** The package whose version is that of all (CONTRIBUTING.md, "Releases"). */
const LEADER = 'packages/cli/package.json';
const VERSION_FILE = 'packages/cli/src/command-line/version.ts';
const MANIFEST = /^(?:packages|launchers)\/[^/]+\/package\.json$/;

/** Published packages have one version and the same metadata, and depend on each other through the workspace. */
export function check({ files }) {
  const manifests = new Map(
    files
      .filter(({ path }) => path === 'package.json' || MANIFEST.test(path))
      .map(({ path, lines }) => [path, { manifest: JSON.parse(lines.join('\n')), lines }]),
  );
  const root = manifests.get('package.json')?.manifest;
  const version = manifests.get(LEADER)?.manifest.version;
  if (root === undefined || version === undefined) return [];
  const published = [...manifests].filter(
    ([path, { manifest }]) => path !== 'package.json' && manifest.private !== true,
  );
  const names = new Set(published.map(([, { manifest }]) => manifest.name));
  const faults = published.flatMap(([path, { manifest, lines }]) =>
    findProblems({ manifest, path, root, version, names }).map(({ key, message }) => ({
      file: path,
      line: lines.findIndex((line) => line.includes(`"${key}":`)) + 1 || 1,
      message,
    })),
  );
  const written = files.find(({ path }) => path === VERSION_FILE);
  if (written !== undefined && !written.lines.some((line) => line.includes(`'${version}'`)))
    faults.push({ file: VERSION_FILE, line: 1, message: `is not ${version}; run: node scripts/write-version.mjs` });
  return faults;
}

function findProblems({ manifest, path, root, version, names }) {
  const directory = path.slice(0, -'/package.json'.length);
  const expected = {
    version,
    license: root.license,
    homepage: root.homepage,
    bugs: root.bugs,
    repository: { ...root.repository, directory },
    engines: root.engines,
    // npm publishes a scoped package only to subscribers by default.
    ...(manifest.name.startsWith('@') ? { publishConfig: { ...manifest.publishConfig, access: 'public' } } : {}),
  };
  const problems = Object.entries(expected)
    .filter(([key, value]) => !isEqual(manifest[key], value))
    .map(([key, value]) => ({ key, message: `"${key}" is not ${JSON.stringify(value)}` }));
  const required = ['description', 'keywords', 'files', ...(manifest.exports === undefined ? [] : ['types'])];
  for (const key of required) if (manifest[key] === undefined) problems.push({ key, message: `has no "${key}"` });
  const dependencies = { ...manifest.dependencies, ...manifest.optionalDependencies };
  for (const [name, range] of Object.entries(dependencies))
    if (names.has(name) && range !== 'workspace:*')
      problems.push({ key: name, message: `depends on "${name}" by "${range}", not by "workspace:*"` });
  return problems;
}

function isEqual(a, b) {
  return JSON.stringify(sortKeys(a)) === JSON.stringify(sortKeys(b));
}

function sortKeys(value) {
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value)
      .map(([key, inner]) => [key, sortKeys(inner)])
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );
}
