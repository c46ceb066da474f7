import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FailureReport } from '@sluice/run';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  canLackNamespaces,
  canMakeNamespaces,
  createWorkplace,
  parseLines,
  type StartOptions,
  type Workplace,
} from './workplace-rig.ts';

let place: Workplace;
beforeEach(() => {
  place = createWorkplace();
});
afterEach(() => place.remove());

/** Three cells that append a zero to the same input. */
const pipeline = (input: string) => `
version: 1
name: inputs
failFast: false
steps:
  make:
    script: echo 6 > /out/n
    outputs: { n: /out }
    cache: true
  change:
    matrix: { cell: [1, 2, 3] }
    parallelism: 1
    inputs: { n: ${input} }
    script: |
      sed -i 's/$/0/' /in/n/n
      cp /in/n/n /out/n
    outputs: { n: /out }
outputs:
  n: { from: change.n, publish: ./results }
`;

async function run(input: string, options: StartOptions) {
  writeFileSync(join(place.directory, 'p.yaml'), pipeline(input));
  const { stdout } = await place.start(['run', 'p.yaml', '--json'], options).ended;
  const last = parseLines(stdout).at(-1);
  if (last?.type !== 'runFinished') throw new Error(`the run did not finish: ${stdout}`);
  return last.report;
}

const CHANGED = /^could not publish: input n \(make\.n\) was changed while the attempt ran: n was changed; /;
const REJECTED = /^could not start on input n \(make\.n\): an earlier attempt changed it: n was changed; /;

/** Every cell was kept from writing by a read-only mount, and none by a comparison. */
function expectReadOnly(failures: readonly FailureReport[]): void {
  for (const { message, logTail, hint } of failures) {
    expect(message).not.toMatch(CHANGED);
    expect(logTail?.join('\n')).toContain('Read-only file system');
    expect(hint).toContain('input n (/in/n) is read-only: set `writable: true` on it');
  }
}

/** The first cell was found out by the comparison, and no other was started. */
function expectCompared([first, ...others]: readonly FailureReport[]): void {
  expect(first?.message).toMatch(CHANGED);
  for (const { message } of others) expect(message).toMatch(REJECTED);
  for (const { message, hint } of [first!, ...others]) {
    expect(message).toContain('writable: true');
    expect(hint).toBeUndefined();
  }
}

describe.each([
  { lacksNamespaces: false, where: 'as this machine is' },
  { lacksNamespaces: true, where: 'without namespaces' },
])('an input, $where', ({ lacksNamespaces }) => {
  const itCan = test.skipIf(lacksNamespaces && !canLackNamespaces());

  itCan('that three cells change as private copies of it: 60, 60, 60', async () => {
    const report = await run('{ from: make.n, writable: true }', { lacksNamespaces });
    expect(report.status).toBe('succeeded');
    for (const cell of [1, 2, 3]) expect(place.read(`results/cell-${cell}/n`)).toBe('60\n');
  });

  itCan('that a step changes makes it fail, and is read as it was by the next run', async () => {
    const failed = await run('make.n', { lacksNamespaces });
    expect(failed.status).toBe('failed');
    expect(failed.failures).toHaveLength(3);
    const isProtected = !lacksNamespaces && canMakeNamespaces();
    if (isProtected) expectReadOnly(failed.failures);
    else expectCompared(failed.failures);
    const report = await run('{ from: make.n, writable: true }', { lacksNamespaces });
    expect(report.status).toBe('succeeded');
    // Only where nothing could be changed is the input taken from the cache.
    expect(report.steps[0]?.cells.map(({ reused }) => reused === true)).toEqual([isProtected]);
    for (const cell of [1, 2, 3]) expect(place.read(`results/cell-${cell}/n`)).toBe('60\n');
  });
});
