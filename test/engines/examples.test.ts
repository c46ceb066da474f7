import { createHash } from 'node:crypto';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createPlan, parsePipeline } from '@sluice/core';
import { startRun } from '@sluice/runner';
import { createService, type ServiceConfigInput, serviceConfigSchema } from '@sluice/service';
import { afterAll, describe, expect, it } from 'vitest';

const examples = fileURLToPath(new URL('../../examples/', import.meta.url));
const directory = mkdtempSync(join(tmpdir(), 'sluice-examples-'));
afterAll(() => rmSync(directory, { recursive: true, force: true, maxRetries: 10 }));

type Cluster = ServiceConfigInput['clusters'][number];
interface World {
  readonly name: string;
  readonly engine: string;
  /** Not to be had outside CI: a visible skip there, a failure here. */
  readonly isThere: boolean;
  readonly image: string;
  readonly options: Cluster['options'];
}

const worlds: readonly World[] = [
  { name: 'process', engine: 'process', isThere: true, image: '', options: {} },
  {
    name: 'docker',
    engine: 'docker',
    isThere: process.env.SLUICE_TEST_DOCKER_SOCKET !== undefined,
    image: process.env.SLUICE_TEST_DOCKER_NODE_IMAGE ?? '',
    options: { socketPath: process.env.SLUICE_TEST_DOCKER_SOCKET },
  },
  {
    name: 'podman',
    engine: 'docker',
    isThere: process.env.SLUICE_TEST_PODMAN_SOCKET !== undefined,
    image: process.env.SLUICE_TEST_DOCKER_NODE_IMAGE ?? '',
    options: { socketPath: process.env.SLUICE_TEST_PODMAN_SOCKET },
  },
  {
    name: 'slurm',
    engine: 'slurm',
    isThere: process.env.SLUICE_TEST_SLURM === '1',
    image: '',
    options: { partition: 'main', pollInterval: '200ms' },
  },
  {
    name: 'slurm, in allocations',
    engine: 'slurm',
    isThere: process.env.SLUICE_TEST_SLURM === '1',
    image: '',
    options: { partition: 'main', pollInterval: '200ms', allocations: { timeLimit: '10m', idleTimeout: '1s' } },
  },
];

/** Runs an example on a service of its own with one cluster of the engine, and gives what it has published. */
async function runExample(name: string, world: World): Promise<Record<string, string>> {
  const place = mkdtempSync(join(directory, `${name}-${world.name}-`));
  cpSync(examples, join(place, 'examples'), { recursive: true, filter: (path) => !path.endsWith('/results') });
  const file = join(place, 'examples', name, 'pipeline.yaml');
  const parsed = parsePipeline({ text: readFileSync(file, 'utf8'), file });
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.error));
  const plan = createPlan(parsed.value.pipeline, { params: { image: world.image } });
  if (!plan.ok) throw new Error(JSON.stringify(plan.error));

  const scope = { clusterID: 'c1', accountID: 'team' };
  const service = await createService({
    config: serviceConfigSchema.parse({
      root: join(place, 'service'),
      clusters: [
        {
          id: 'c1',
          engine: world.engine,
          options: world.options,
          accounts: ['team'],
          instanceTypes: [{ id: 'small', cpu: 1, memory: '1GB' }],
          ...(world.engine === 'slurm' ? {} : { capacity: { cpu: 2, memory: '8GB' } }),
        },
      ],
    }),
  });
  try {
    const started = await startRun({
      plan: plan.value,
      service: service.inProcess({ userId: 'tester', accounts: [scope] }),
      scope,
      home: join(place, 'home'),
      baseDir: dirname(file),
    });
    if (!started.ok) throw new Error(started.error.message);
    const report = await started.value.finished;
    expect(report.status, JSON.stringify(report.failures)).toBe('succeeded');
  } finally {
    await service.close();
  }
  return hashes(join(dirname(file), 'results'));
}

/** Path to SHA-256 of all files but those that name the run: its marker, and the summary. */
function hashes(root: string): Record<string, string> {
  const files = readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const pairs = files
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !path.includes('/summary/') && !path.endsWith('/.sluice-result.json'))
    .map((path) => [path.slice(root.length + 1), createHash('sha256').update(readFileSync(path)).digest('hex')]);
  return Object.fromEntries(pairs.sort(([a], [b]) => (a! < b! ? -1 : 1)));
}

describe.each(['digits', 'nightly'])('the %s example', (name) => {
  const reference = runOnce(() => runExample(name, worlds[0]!));

  for (const world of worlds) {
    it.skipIf(!world.isThere && process.env.CI !== 'true')(
      `gives the same files on ${world.name}`,
      async () => {
        const here = await reference();
        const there = world === worlds[0] ? here : await runExample(name, world);
        expect(Object.keys(here).length).toBeGreaterThan(0);
        expect(there).toEqual(here);
      },
      300_000,
    );
  }
});

function runOnce<T>(work: () => Promise<T>): () => Promise<T> {
  let result: Promise<T> | undefined;
  return () => {
    result ??= work();
    return result;
  };
}
