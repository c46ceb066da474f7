import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { slurm } from '../../packages/service/test/engines/slurm/slurm-rig.ts';
import { CREDENTIALS, type Server, serveNew } from '../e2e/served-rig.ts';
import { createWorkplace, until, type Workplace } from '../e2e/workplace-rig.ts';

const isThere = process.env.SLUICE_TEST_SLURM === '1';

const OPTIONS = { partition: 'main', pollInterval: '200ms', timeLimit: '4h', allow: ['partition', 'nodelist', 'mail'] };
const CLUSTERS = `
  - id: main
    engine: slurm
    options: ${JSON.stringify(OPTIONS)}
    accounts: [physics]
    instanceTypes: [{ id: small, cpu: 1, memory: 1GB }]`;

/** The step `call` gets its time from the result of the cell of its sample. */
const PIPELINE = `axes: { sample: [A, B] }
steps:
  size:
    each: sample
    script: '[ \${{ each.sample }} = A ] && echo 1 > /sluice/results/hours || echo 2 > /sluice/results/hours'
    results: { hours: integer }
  call:
    each: sample
    command: [sleep, '600']
    resources: { cpu: 1, time: "\${{ steps.size.results.hours }}h" }
    slurm: { partition: second, nodelist: n2, mail: ada@example.org }
  guard: { each: sample, command: [sleep, '600'], timeout: 20m }
  stuck: { command: [sleep, '600'], timeout: 7d }
  plain: { command: [sleep, '600'] }
`;

describe.skipIf(!isThere && process.env.CI !== 'true')('jobs of a run on Slurm', () => {
  let place: Workplace;
  let server: Server;
  beforeEach(async () => {
    place = createWorkplace();
    server = await serveNew(place, { clusters: CLUSTERS });
  });
  afterEach(async () => {
    server.process.kill('SIGTERM');
    await server.ended;
    place.remove();
  });

  const start = (...args: string[]) => place.start(args, { env: CREDENTIALS });
  const run = (text: string) => {
    writeFileSync(join(place.directory, 'pipeline.yaml'), `version: 1\nname: variants\n${text}`);
    return start('run', '--here', '--service', server.url);
  };
  /** The jobs of this workplace that have not ended, by their names. */
  const jobs = () => {
    const lines = slurm('squeue', '--noheader', '--format=%i|%T|%Z|%j').trim().split('\n');
    const own = lines
      .map((line) => line.split('|'))
      .filter(([, , directory]) => directory?.startsWith(place.directory));
    return new Map(own.map(([id, state, , name]) => [name!, { id: id!, state: state! }]));
  };

  test('have the names, time limits and options of their steps', async () => {
    const under = run(PIPELINE);
    const names = ['call/A', 'call/B', 'guard/A', 'guard/B', 'plain', 'stuck'].map((name) => `variants/${name}`);
    const running = () => [...jobs()].filter(([, { state }]) => state === 'RUNNING').map(([name]) => name);
    await until(() => names.every((name) => running().includes(name)) || under.process.exitCode !== null, 'all jobs');
    expect([...jobs().keys()].sort()).toEqual(names);

    const { runId } = (await place.runs())[0]!;
    const shown = (name: string) => slurm('scontrol', '--oneliner', 'show', 'job', jobs().get(`variants/${name}`)!.id);
    const limit = (name: string) => / TimeLimit=(\S+) /.exec(shown(name))?.[1];
    expect(names.map((name) => [name, limit(name.slice('variants/'.length))])).toEqual([
      ['variants/call/A', '01:01:00'],
      ['variants/call/B', '02:01:00'],
      ['variants/guard/A', '00:21:00'],
      ['variants/guard/B', '00:21:00'],
      ['variants/plain', '04:00:00'],
      ['variants/stuck', '04:00:00'],
    ]);
    for (const part of [
      'JobName=variants/call/B ',
      ' Partition=second ',
      ' ReqNodeList=n2 ',
      ' NodeList=n2 ',
      ' MailUser=ada@example.org ',
      ` Comment=run=${runId} attempt=1 cell=call/B `,
    ])
      expect(shown('call/B')).toContain(part);
    expect(shown('guard/A')).toContain(' Partition=main ');
    expect(shown('guard/A')).not.toContain('MailUser');

    expect(await start('cancel', runId).ended).toMatchObject({ exitCode: 0 });
    await under.ended;
    await until(() => jobs().size === 0, 'no job to be left');
  });

  test.each([
    ['a time beyond the limit', 'resources: { time: 5h }', "'timeLimit') allows 240"],
    ['an option that is not allowed', 'slurm: { qos: high }', "could not use 'slurm.qos' of the step"],
  ])('are not submitted with %s, which fails the step without a retry', async (_, keys, why) => {
    const { exitCode } = await run(`steps:\n  fit: { command: ['true'], retry: 3, ${keys} }\n`).ended;
    expect(exitCode).toBe(1);
    expect((await place.sluice('why', 'fit')).stdout).toContain(why);
    const { steps } = await place.show((await place.runs())[0]!.runId);
    expect(steps[0]!.cells[0]).toMatchObject({ status: 'failed', attempt: 1 });
    expect(jobs().size).toBe(0);
  });
});
