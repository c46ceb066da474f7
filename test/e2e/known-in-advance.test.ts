import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createWorkplace, type Workplace } from './workplace-rig.ts';

let place: Workplace;

beforeEach(() => {
  place = createWorkplace();
});

afterEach(() => place.remove());

const FIRST = 'first: { command: [touch, started] }';

test.each([
  ['an unknown instance type', `${FIRST}, s: { command: [x], instanceType: nope }`, 'offers nope'],
  [
    'an unknown instance type of one cell',
    `${FIRST}, s: { command: [x], matrix: { t: [local-1, nope] }, instanceType: "\${{ matrix.t }}" }`,
    'offers nope',
  ],
  ['more than the cluster has', `${FIRST}, s: { command: [x], resources: { cpu: 100000 } }`, 'no instance type'],
  [
    'an escalation to an unknown instance type',
    `${FIRST}, s: { command: [x], retry: { limit: 1, escalate: [nope] } }`,
    'offers nope',
  ],
  ['an unknown volume', `${FIRST}, s: { command: [x], inputs: { i: volumes.v } }`, 'the service has no volume'],
  ['a missing secret', `${FIRST}, s: { command: [x], secrets: [KEY] }`, 'needs the secret KEY'],
  ['a missing source', `${FIRST}, s: { command: [x], inputs: { i: volumes.v } }`, 'there is no such file or directory'],
])('`plan` and `run` reject %s before anything starts', async (_what, steps, reason) => {
  const brought = reason.includes('no such file')
    ? 'volumes: { v: { source: ./gone } }\n'
    : reason.includes('no volume')
      ? 'volumes: { v: { id: nope } }\n'
      : '';
  const text = `version: 1\nname: a\n${brought}${reason.includes('secret') ? 'secrets: [KEY]\n' : ''}steps: { ${steps} }\n`;
  writeFileSync(join(place.directory, 'p.yaml'), text);
  for (const verb of ['plan', 'run']) {
    const { exitCode, stderr } = await place.sluice(verb, 'p.yaml');
    expect({ verb, exitCode, stderr }).toMatchObject({ exitCode: 2, stderr: expect.stringContaining(reason) });
  }
  expect(await place.runs()).toEqual([]);
  expect(await place.containers()).toEqual([]);
  expect(existsSync(join(place.directory, 'started'))).toBe(false);
});

test('a cluster or account that the embedded service does not have is rejected by every command', async () => {
  writeFileSync(join(place.directory, 'p.yaml'), `version: 1\nname: a\nsteps: { ${FIRST} }\n`);
  for (const [flag, said] of [
    ['--cluster', 'cluster nope'],
    ['--account', 'account nope'],
  ] as const) {
    for (const args of [
      ['plan', 'p.yaml'],
      ['run', 'p.yaml'],
    ]) {
      const { exitCode, stderr } = await place.sluice(...args, flag, 'nope');
      expect({ args, exitCode, stderr }).toMatchObject({
        exitCode: 2,
        stderr: expect.stringContaining(`could not use ${said}: the embedded service`),
      });
    }
  }
  const plan = await place.sluice('plan', 'p.yaml', '--cluster', 'local');
  expect(plan).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('1 container, on cluster local') });
});
