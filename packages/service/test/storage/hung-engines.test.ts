import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { createFakeDocker } from '../engines/docker/fake-docker.ts';
import { createFakeSlurm } from '../engines/slurm/fake-slurm.ts';
import { openRig, PRINCIPAL, type Rig, SCOPE } from '../service-rig.ts';
import { canHang, hang } from './hung-mount.ts';

const isPossible = canHang();
if (!isPossible && process.env.CI === 'true')
  throw new Error('could not test a hung storage: it needs root, /dev/fuse and python3');

/** More than an engine looks at concurrently, and more than a process has threads for files. */
const IDS = Array.from({ length: 20 }, (_, i) => `c${i}`);
const PATIENCE = { timeout: 120_000, interval: 50 };

/** An engine without the real system behind it. */
interface Subject {
  readonly engine: string;
  readonly options: Readonly<Record<string, unknown>>;
  /** How often the engine has looked at all containers. */
  looks(): number;
  /** How many containers it was told to end. */
  ended(): number;
  remove(): void;
}

const subjects: Record<string, () => Promise<Subject>> = {
  slurm: async () => {
    const slurm = createFakeSlurm();
    return {
      engine: 'slurm',
      options: { pollInterval: '50ms', recordGrace: '0s' },
      looks: () => slurm.calls('squeue').length,
      ended: () => new Set(slurm.calls('scancel').map((call) => /--name=(\S+)/.exec(call)?.[1])).size,
      remove: slurm.remove,
    };
  },
  docker: async () => {
    const docker = await createFakeDocker();
    const count = (pattern: RegExp) => new Set(docker.calls.filter((call) => pattern.test(call))).size;
    return {
      engine: 'docker',
      options: { pollInterval: '50ms', socketPath: docker.socketPath },
      looks: () => docker.calls.filter((call) => call === 'GET /containers/json').length,
      ended: () => count(/\/stop$/),
      remove: docker.close,
    };
  },
};

describe.skipIf(!isPossible).each(Object.keys(subjects))('the engine %s on a storage that does not answer', (name) => {
  let rig: Rig | undefined;
  let subject: Subject | undefined;
  let release = async () => {};
  afterEach(async () => {
    await release();
    await rig?.close();
    subject?.remove();
  });

  it('leaves threads for other storages, stops containers, and follows them later', async () => {
    subject = await subjects[name]!();
    const { engine, options, looks, ended } = subject;
    const instanceTypes = [{ id: 'small', cpu: 1, memory: '1GB' }];
    const cluster = { id: 'one', engine, options, accounts: ['mine'], instanceTypes };
    rig = await openRig({ config: { clusters: [cluster] } });
    const { containers } = rig.service.inProcess(PRINCIPAL);
    const image = engine === 'slurm' ? {} : { image: 'x' };
    for (const containerID of IDS)
      await containers.create(SCOPE, { instanceType: 'small', command: ['x'], ...image }, { containerID });
    const phases = async () => {
      const all = await Promise.all(IDS.map((id) => containers.get({ ...SCOPE, id })));
      return [...new Set(all.map(({ phase }) => phase))];
    };
    await expect.poll(phases, PATIENCE).toEqual(['Running']);

    release = await hang(join(rig.root, 'clusters/one'));
    const before = looks();
    await expect.poll(looks, PATIENCE).toBeGreaterThan(before + 3);
    const elsewhere = join(rig.root, 'elsewhere');
    const useThreads = async () => {
      await Promise.all(IDS.map((id) => writeFile(`${elsewhere}-${id}`, id)));
      return await readFile(`${elsewhere}-c1`, 'utf8');
    };
    expect(await useThreads()).toBe('c1');
    for (const id of IDS) await containers.cancel({ ...SCOPE, id });
    await expect.poll(ended, PATIENCE).toBe(IDS.length);
    expect(await useThreads()).toBe('c1');

    await release();
    await expect.poll(phases, PATIENCE).toEqual(['Canceled']);
  });
});
