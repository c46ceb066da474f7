import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describeStatus, type RunReportValue } from '@sluice/run';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { canLackNamespaces, createWorkplace, parseLines, type StartOptions, type Workplace } from './workplace-rig.ts';

let place: Workplace;
beforeEach(() => {
  place = createWorkplace();
});
afterEach(() => place.remove());

const MAKE = `
  make:
    cache: true
    script: |
      mkdir -p /out/data/deep/est
      echo 6 > /out/data/deep/est/n
    outputs: [data]
`;

async function run(steps: string, options: StartOptions = {}): Promise<RunReportValue> {
  writeFileSync(join(place.directory, 'p.yaml'), `version: 1\nname: paths\nsteps:${steps}`);
  const { stdout, stderr } = await place.start(['run', 'p.yaml', '--json'], options).ended;
  const last = parseLines(stdout).at(-1);
  if (last?.type !== 'runFinished') throw new Error(`the run did not finish: ${stdout}${stderr}`);
  return last.report;
}

const statesOf = ({ steps }: RunReportValue) =>
  Object.fromEntries(steps.map(({ step: name, cells }) => [name, cells.map(describeStatus).join()]));

describe.each([
  { lacksNamespaces: false, where: 'as this machine is' },
  { lacksNamespaces: true, where: 'without namespaces' },
])('an input with a path, $where', ({ lacksNamespaces }) => {
  const itCan = test.skipIf(lacksNamespaces && !canLackNamespaces());

  itCan('mounts a directory, a file or a private copy from inside an output', async () => {
    const report = await run(
      `${MAKE}
  read:
    inputs: { dir: make.data/deep, file: make.data/deep/est/n, copy: { from: make.data/deep/est, writable: true } }
    script: |
      test "$(ls /in/dir)" = est
      test "$(cat /in/dir/est/n) $(cat /in/file)" = "6 6"
      echo 7 >> /in/copy/n
      cat /in/copy/n > /sluice/results/lines
    results: { lines: string }
`,
      { lacksNamespaces },
    );
    expect(report.failures).toEqual([]);
    expect(report.steps.find(({ step: name }) => name === 'read')?.cells[0]?.results).toEqual({ lines: '6\n7' });
  });

  itCan('that does not exist fails the step, and the message names it', async () => {
    const report = await run(`${MAKE}  read: { inputs: { n: make.data/deep/n }, script: "true" }\n`, {
      lacksNamespaces,
    });
    expect(report.failures.map(({ message }) => message)).toEqual([
      'could not mount input n: output data of step make has no file or directory deep/n',
    ]);
  });
});

test('a path in an output is a part of the fingerprint', async () => {
  const read = (path: string) => `${MAKE}  read: { inputs: { n: "make.data${path}" }, cache: true, script: "true" }\n`;
  const states = [];
  for (const path of ['/deep', '/deep', '/deep/est', '', '/deep']) states.push(statesOf(await run(read(path))).read);
  expect(states).toEqual(['succeeded', 'reused', 'succeeded', 'succeeded', 'reused']);
  const changed = read('/deep').replace('echo 6', 'echo 66');
  expect(statesOf(await run(changed))).toEqual({ make: 'succeeded', read: 'succeeded' });
});

test('an optional path in an output of a skipped step is an empty directory', async () => {
  const report = await run(`
  never: { when: "\${{ 1 > 2 }}", script: echo 1 > /out/o/f, outputs: [o] }
  read: { inputs: { f: { from: never.o/deep/f, optional: true } }, script: test -z "$(ls /in/f)" }
`);
  expect(report.failures).toEqual([]);
  expect(statesOf(report)).toEqual({ never: 'skipped', read: 'succeeded' });
});

test('a used pipeline mounts a path, and its outputs and volumes have paths, too', async () => {
  writeFileSync(
    join(place.directory, 'used.yaml'),
    `version: 1
name: used
volumes: { raw: {} }
steps:${MAKE}
  take:
    inputs: { raw: volumes.raw/est, own: make.data/deep/est }
    script: mkdir /out/both/in; cat /in/raw/n /in/own/n > /out/both/in/n
    outputs: [both]
outputs: { both: take.both }
`,
  );
  const report = await run(`${MAKE}
  part: { uses: used.yaml, inputs: { raw: make.data/deep } }
  read: { inputs: { n: part.both/in/n }, script: cat /in/n > /sluice/results/n, results: { n: string } }
`);
  expect(report.failures).toEqual([]);
  expect(report.steps.find(({ step: name }) => name === 'read')?.cells[0]?.results).toEqual({ n: '6\n6' });
});
