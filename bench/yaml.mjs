/**
 * Reading YAML: our reader of plain files, js-yaml, and the `yaml` package with positions, each in a process of its
 * own. The first read, with the import, is what a command pays; the best of five that of a warm process. In processor time.
 *
 *   pnpm build && node bench/yaml.mjs [DATA]     DATA: a directory with the public files, such as wfgen/*.json.gz
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { stringify } from 'yaml';

const core = (file) => new URL(`../packages/core/dist/parse/${file}`, import.meta.url).href;
const READERS = {
  plain: async () => {
    const { readPlainYaml } = await import(core('plain-yaml.js'));
    return (text) => readPlainYaml(text)?.value;
  },
  'js-yaml': async () => {
    const { CORE_SCHEMA, load } = await import('js-yaml');
    return (text) => load(text, { schema: CORE_SCHEMA });
  },
  'js-yaml events': async () => {
    const { parseEvents } = await import('js-yaml');
    return (text) => parseEvents(text);
  },
  yaml: async () => {
    const [{ parseYaml }, { yamlToJson }] = await Promise.all([
      import(core('parse-yaml.js')),
      import(core('yaml-to-json.js')),
    ]);
    return (text) => yamlToJson(parseYaml(text).document).value;
  },
};

const [first, input, reader] = process.argv.slice(2);
if (reader === undefined) {
  const data = first ?? fileURLToPath(new URL('../../shared/data', import.meta.url));
  const names = ['10000-steps', ...(existsSync(data) ? listFiles(data) : [])];
  console.log(
    `${'input'.padEnd(44)}${'MB'.padStart(7)}  ${'reader'.padEnd(16)}${'first ms'.padStart(10)}${'best ms'.padStart(9)}${'peak MiB'.padStart(9)}`,
  );
  for (const name of names) {
    for (const key of Object.keys(READERS)) {
      const child = spawnSync(process.execPath, [fileURLToPath(import.meta.url), data, name, key], {
        encoding: 'utf8',
      });
      process.stdout.write(child.status === 0 ? child.stdout : child.stderr);
    }
  }
} else await measure(input === '10000-steps' ? tenThousandSteps() : fromFile(join(first, input)));

/** The largest files of each kind, and one small one. */
function listFiles(data) {
  const wanted = /epigenomics-wfgen|montage-chameleon-dss|bwa-chameleon-medium|kde|helloworld-chain/;
  return ['wfgen', 'wfinstances', 'debian-graph'].flatMap((kind) =>
    readdirSync(join(data, kind))
      .filter((name) => wanted.test(name) && name.endsWith('.json.gz'))
      .map((name) => join(kind, name)),
  );
}

async function measure(text) {
  const begin = process.cpuUsage();
  const read = await READERS[reader]();
  const value = read(text);
  const firstMs = msSince(begin);
  if (value === undefined) {
    console.log(`${input.padEnd(44)}${''.padEnd(9)}${reader.padEnd(16)} leaves it to yaml`);
    return;
  }
  let best = Number.POSITIVE_INFINITY;
  for (let turn = 0; turn < 5; turn++) {
    const start = process.cpuUsage();
    read(text);
    best = Math.min(best, msSince(start));
  }
  const peak = process.resourceUsage().maxRSS / 1024;
  console.log(
    `${input.padEnd(44)}${(text.length / 1e6).toFixed(2).padStart(7)}  ${reader.padEnd(16)}${firstMs.toFixed(0).padStart(10)}${best.toFixed(1).padStart(9)}${peak.toFixed(0).padStart(9)}`,
  );
}

function msSince(begin) {
  const { user, system } = process.cpuUsage(begin);
  return (user + system) / 1000;
}

/** In block style, as people write it. */
function tenThousandSteps() {
  const steps = Array.from(
    { length: 10_000 },
    (_, at) => `  step-${at}:
    image: alpine:3.20
    command: [node, work.mjs, --n, "${at}"]
    env:
      LEVEL: info # of the log
    outputs: { out: /out }
    timeout: 1h
`,
  );
  return `version: 1\nname: bench\nsteps:\n${steps.join('')}`;
}

/** A public workflow or package graph as a pipeline. */
function fromFile(file) {
  const data = JSON.parse(gunzipSync(readFileSync(file)).toString('utf8'));
  const steps = (data.workflow?.specification.tasks ?? packagesOf(data)).map(({ id, parents, outputFiles = [] }) => [
    id,
    {
      command: ['run', id],
      needs: parents,
      outputs: Object.fromEntries(outputFiles.map((name, at) => [`o${at}`, `/out/${name}`])),
    },
  ]);
  return stringify({ version: 1, name: 'data', steps: Object.fromEntries(steps) }, { lineWidth: 0 });
}

function packagesOf({ nodes, edges }) {
  const packages = nodes.map(([id]) => ({ id, parents: [] }));
  for (const [dependent, dependency] of edges) packages[dependent].parents.push(nodes[dependency][0]);
  return packages;
}
