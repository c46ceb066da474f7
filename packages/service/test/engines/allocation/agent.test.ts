import { appendFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FEATURES } from '@sluice/client';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Agent, type AgentOptions } from '../../../src/engines/allocation/agent.ts';
import { IdleNodes } from '../../../src/engines/allocation/idle-nodes.ts';
import { NodeGpus } from '../../../src/engines/allocation/node-gpus.ts';
import { type Order, orderLaunch, parseReport, type Report } from '../../../src/engines/allocation/spool-lines.ts';
import type { Launch } from '../../../src/engines/engine.ts';
import { createProcessEngine } from '../../../src/engines/process/process-engine.ts';
import { hasNamespaces } from '../has-namespaces.ts';

// Without namespaces, an agent takes nothing.
describe.skipIf(!hasNamespaces)('Agent', () => {
  let directory: string;
  const running: Promise<void>[] = [];

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'sluice-agent-'));
    for (const name of ['orders', 'reports']) writeFileSync(join(directory, name), '');
  });
  afterEach(async () => {
    order({ type: 'end' });
    await Promise.all(running.splice(0));
    rmSync(directory, { recursive: true });
  });

  function order(...orders: Order[]): void {
    appendFileSync(join(directory, 'orders'), orders.map((one) => `${JSON.stringify(one)}\n`).join(''));
  }

  function launchOf(key: string, script: string, cores = 1): Launch {
    const place = join(directory, key);
    mkdirSync(place, { recursive: true });
    return {
      ...{ key, containerID: key, clusterID: 'c', accountID: 'a', env: {}, ports: {}, options: {} },
      command: ['sh', '-c', script],
      mounts: [{ root: directory, subPath: '', kind: 'dir', target: '/v' }],
      limits: { cores, memoryBytes: 2 ** 28, gpus: 0 },
      directory: place,
      logPath: join(place, 'log'),
    };
  }

  function start(more: Partial<AgentOptions> = {}): { readonly agent: Agent; readonly over: Promise<void> } {
    const agent = new Agent({
      ...{ engine: createProcessEngine(), directory, capacity: { cores: 2, memoryBytes: 2 ** 32, gpus: 0 } },
      needs: [FEATURES.readOnlyMounts],
      gpus: new NodeGpus({}),
      idle: new IdleNodes(directory, [directory]),
      ...{ timeLimitMs: 3_600_000, graceMs: 2000, idleMs: 600_000, ...more },
    });
    const over = agent.run();
    running.push(over);
    return { agent, over };
  }

  function reports(): Report[] {
    return readFileSync(join(directory, 'reports'), 'utf8')
      .split('\n')
      .flatMap((line) => parseReport(line) ?? []);
  }

  const endsOf = (key: string) =>
    reports().flatMap((one) =>
      one.type === 'seen' && one.key === key && one.observation.type === 'ended' ? [one.observation.end] : [],
    );

  const returned = () => reports().flatMap((one) => (one.type === 'returned' ? [one.key] : []));
  const starts = () => {
    try {
      return readFileSync(join(directory, 'starts'), 'utf8').split('\n').filter(Boolean).sort();
    } catch {
      return [];
    }
  };
  const started = (key: string) => `echo ${key} >>/v/starts`;

  test('runs what is ordered within its cores, in order, and reports each end', async () => {
    start();
    for (const key of ['a', 'b', 'c', 'd']) order(orderLaunch(launchOf(key, `${started(key)}; exit 3`), undefined));
    for (const key of ['a', 'b', 'c', 'd'])
      await expect.poll(() => endsOf(key)).toEqual([{ kind: 'exited', exitCode: 3 }]);
    expect(starts()).toEqual(['a', 'b', 'c', 'd']);
    expect(reports()[0]).toMatchObject({ type: 'ready', cores: 2, memoryBytes: 2 ** 32 });
  });

  test('ignores an order that it has had, and a line that is no order', async () => {
    start();
    const twice = orderLaunch(launchOf('a', started('a')), undefined);
    order(twice);
    appendFileSync(
      join(directory, 'orders'),
      '{"type":"launch","launch":{"key":"../../x"}}\nnonsense\n{"type":"launch"',
    );
    appendFileSync(join(directory, 'orders'), '\n');
    order(twice, orderLaunch(launchOf('b', started('b')), undefined));
    await expect.poll(() => endsOf('b')).toHaveLength(1);
    expect(starts()).toEqual(['a', 'b']);
    await expect.poll(() => endsOf('a')).toHaveLength(1);
  });

  test('a stop ends what runs with its grace period, and what waits at once', async () => {
    start();
    order(
      orderLaunch(
        launchOf('runs', `trap 'exit 0' TERM; ${started('runs')}; while :; do sleep 0.05; done`, 2),
        undefined,
      ),
    );
    order(orderLaunch(launchOf('waits', started('waits')), undefined));
    await expect.poll(starts).toEqual(['runs']);
    order({ type: 'stop', key: 'waits', graceMs: 1000 }, { type: 'stop', key: 'runs', graceMs: 60_000 });
    await expect.poll(() => endsOf('runs')).toEqual([{ kind: 'stopped' }]);
    expect(endsOf('waits')).toEqual([{ kind: 'stopped' }]);
    expect(starts()).toEqual(['runs']);
  });

  test('at its end, what runs is stopped as a fault of the allocation, and what waits is returned', async () => {
    const { agent, over } = start();
    order(orderLaunch(launchOf('runs', `${started('runs')}; while :; do sleep 0.05; done`), undefined));
    order(
      orderLaunch(
        launchOf('polite', `trap 'exit 0' TERM; ${started('polite')}; while :; do sleep 0.05; done`),
        undefined,
      ),
    );
    order(orderLaunch(launchOf('waits', started('waits')), undefined));
    await expect.poll(starts).toEqual(['polite', 'runs']);
    agent.leave('Slurm has ended the job');
    await over;
    for (const key of ['runs', 'polite'])
      expect(endsOf(key)).toEqual([{ kind: 'fault', reason: expect.stringMatching(/^allocation ended/) }]);
    expect(returned()).toEqual(['waits']);
    expect(starts()).toEqual(['polite', 'runs']);
  });

  test('a success is doubted if the allocation ends right after it: the same signal may have ended the command', async () => {
    const engine = createProcessEngine();
    const open = engine.open.bind(engine);
    engine.open = (sink) =>
      open({
        report(key, observation) {
          sink.report(key, observation);
          if (observation.type === 'ended') agent.leave('Slurm has ended the job');
        },
      });
    const { agent, over } = start({ engine });
    order(orderLaunch(launchOf('a', started('a')), undefined));
    await over;
    expect(starts()).toEqual(['a']);
    expect(endsOf('a')).toEqual([{ kind: 'fault', reason: expect.stringMatching(/^allocation ended/) }]);
  });

  test('starts nothing that needs more time than is left', async () => {
    start({ timeLimitMs: 600_000 });
    order(
      orderLaunch(launchOf('long', started('long')), 700_000),
      orderLaunch(launchOf('short', started('short')), 1000),
    );
    await expect.poll(() => endsOf('short')).toHaveLength(1);
    expect(returned()).toEqual(['long']);
    expect(starts()).toEqual(['short']);
  });

  test('leaves at its time limit, and when it had nothing to do', async () => {
    await start({ timeLimitMs: 1000, graceMs: 400 }).over;
    expect(reports()).toContainEqual({ type: 'leaving', reason: 'its time limit is reached' });
    writeFileSync(join(directory, 'reports'), '');
    await start({ idleMs: 50 }).over;
    expect(reports()).toContainEqual({ type: 'leaving', reason: 'it had nothing to do' });
  });

  test('stays while another node of the allocation has something to do', async () => {
    const other = join(directory, 'other');
    mkdirSync(other);
    const { over } = start({ idleMs: 50, idle: new IdleNodes(directory, [directory, other]) });
    await expect.poll(() => existsSync(join(directory, 'idle'))).toBe(true);
    order(orderLaunch(launchOf('one', started('one')), undefined));
    await expect.poll(() => endsOf('one')).toHaveLength(1);
    expect(reports().some(({ type }) => type === 'leaving')).toBe(false);
    writeFileSync(join(other, 'idle'), '');
    await over;
    expect(reports()).toContainEqual({ type: 'leaving', reason: 'it had nothing to do' });
  });
});
