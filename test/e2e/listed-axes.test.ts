import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { cellStatuses } from './cell-statuses.ts';
import { createWorkplace, until, type Workplace } from './workplace-rig.ts';

let place: Workplace;

beforeEach(() => {
  place = createWorkplace();
});
afterEach(() => place.remove());

function write(text: string): void {
  writeFileSync(join(place.directory, 'pipeline.yaml'), `version: 1\nname: p\n${text}`);
}

const statuses = async (runId: string) => cellStatuses(await place.show(runId));

const newest = async () => (await place.runs())[0]!.runId;

const AXES = `params: { parts: { A: '["p1", "p2"]', B: '["p1", "p2", "p3"]' } }
axes: { sample: [A, B], part: "\${{ steps.split.results.parts }}" }
`;
const SPLIT = `split: { each: sample, script: "echo '\${{ params.parts[each.sample] }}' > /sluice/results/parts", results: { parts: array } }`;

test('one command approves or rejects one listed cell, or all that wait', async () => {
  write(`failFast: false
${AXES}
steps:
  ${SPLIT}
  ok: { each: part, approval: 'Release \${{ each.sample }} \${{ each.part }}?' }
  release: { each: part, needs: [ok], script: 'true' }
  join: { each: sample, needs: { release: completed }, script: 'true' }
`);
  const run = place.start(['run']);
  await until(() => run.stdout().split('needs approval').length === 6, 'five questions');
  expect(run.stdout()).toContain('Release B p3?');
  const approved = await place.sluice('approve', 'ok/A,p2');
  expect(approved, approved.stderr).toMatchObject({
    exitCode: 0,
    stdout: expect.stringContaining('approved ok/A,p2 of run'),
  });
  await until(() => run.stdout().includes('release/A,p2  succeeded'), 'A,p2 to be released');
  expect(run.stdout()).not.toContain('release/A,p1  succeeded');
  expect(await place.sluice('reject', 'ok/B,p1')).toMatchObject({ exitCode: 0 });
  await until(() => run.stdout().includes('release/B,p1  skipped'), 'B,p1 to be skipped');
  // What has become a cell of its own, is answered already, or is not in this list.
  for (const cell of ['ok/B,*', 'ok/A,p2', 'ok/B,p1', 'ok/A,p3', 'ok/p1']) {
    const rejected = await place.sluice('approve', cell);
    expect(rejected.exitCode, cell).toBe(2);
    expect(rejected.stderr, cell).toContain(cell);
  }
  expect(await place.sluice('approve', 'ok')).toMatchObject({ exitCode: 0 });
  expect(await run.ended).toMatchObject({ exitCode: 1 });
  expect(await statuses(await newest())).toEqual({
    split: 'A succeeded, B succeeded',
    ok: 'A,p1 succeeded, A,p2 succeeded, B,p1 failed, B,p2 succeeded, B,p3 succeeded',
    release: 'A,p1 succeeded, A,p2 succeeded, B,p1 skipped, B,p2 succeeded, B,p3 succeeded',
    join: 'A succeeded, B succeeded',
  });
});

/** Fails in the cells that \`fails\` names; its readers do not depend on the parameter. */
const FAILING = `failFast: false
params: { parts: { A: '["p1", "p2"]', B: '["p1", "p2", "p3"]', C: '[]' }, fails: [B/p2] }
axes: { sample: [A, B, C], part: "\${{ steps.split.results.parts }}" }
steps:
  ${SPLIT}
  work:
    each: part
    script: 'echo made \${{ each.sample }} \${{ each.part }} | tee /out/x/f; \${{ (each.sample + "/" + each.part) in params.fails ? "false" : "true" }}'
    outputs: [x]
  sort: { each: part, inputs: { x: work.x }, script: 'cat /in/x/f > /out/x/f', outputs: [x] }
  join: { each: sample, inputs: { x: sort.x }, script: 'cat /in/x/*/f > /out/all/f', outputs: [all] }
outputs: { all: { from: join.all, publish: ./results } }
`;

test('logs and why of a listed cell; a rerun runs only the listed cell that failed, or the one that it names', async () => {
  write(FAILING);
  expect(await place.sluice('run')).toMatchObject({ exitCode: 1 });
  const failed = await newest();
  expect(await statuses(failed)).toEqual({
    split: 'A succeeded, B succeeded, C succeeded',
    work: 'A,p1 succeeded, A,p2 succeeded, B,p1 succeeded, B,p2 failed, B,p3 succeeded',
    sort: 'A,p1 succeeded, A,p2 succeeded, B,p1 succeeded, B,p2 skipped, B,p3 succeeded',
    join: 'A succeeded, B succeeded, C skipped',
  });

  expect(await place.sluice('logs', 'work/B,p2')).toMatchObject({ exitCode: 0, stdout: 'made B p2\n' });
  expect(await place.sluice('logs', 'work/A,p2')).toMatchObject({ exitCode: 0, stdout: 'made A p2\n' });
  const unknown = await place.sluice('logs', 'work/A,p3');
  expect(unknown.exitCode).toBe(2);
  expect(unknown.stderr).toContain('A,p3');
  const why = async (cell: string) => (await place.sluice('why', cell)).stdout;
  expect(await why('work/B,p2')).toContain('work/B,p2  failed');
  expect(await why('sort/B,p2')).toContain('sort/B,p2  skipped  work/B,p2 did not succeed');
  expect(await why('join/C')).toContain('join/C  skipped');
  expect(await why('sort/A,p2')).toContain('split/A');

  // The same again: only what failed, and what reads it.
  expect(await place.sluice('rerun', failed)).toMatchObject({ exitCode: 1 });
  expect(await statuses(await newest())).toEqual({
    split: 'A reused, B reused, C reused',
    work: 'A,p1 reused, A,p2 reused, B,p1 reused, B,p2 failed, B,p3 reused',
    sort: 'A,p1 reused, A,p2 reused, B,p1 reused, B,p2 skipped, B,p3 reused',
    join: 'A reused, B succeeded, C skipped',
  });
  expect(await place.sluice('rerun', failed, '-p', 'fails=[]')).toMatchObject({ exitCode: 0 });
  const whole = await newest();
  expect(await statuses(whole)).toEqual({
    split: 'A reused, B reused, C reused',
    work: 'A,p1 reused, A,p2 reused, B,p1 reused, B,p2 succeeded, B,p3 reused',
    sort: 'A,p1 reused, A,p2 reused, B,p1 reused, B,p2 succeeded, B,p3 reused',
    join: 'A reused, B succeeded, C skipped',
  });
  expect(place.read('results/B/f')).toBe('made B p1\nmade B p2\nmade B p3\n');

  expect(await place.sluice('rerun', whole, '--from', 'work/A,p2')).toMatchObject({ exitCode: 0 });
  expect(await statuses(await newest())).toEqual({
    split: 'A reused, B reused, C reused',
    work: 'A,p1 reused, A,p2 succeeded, B,p1 reused, B,p2 reused, B,p3 reused',
    sort: 'A,p1 reused, A,p2 succeeded, B,p1 reused, B,p2 reused, B,p3 reused',
    join: 'A succeeded, B reused, C skipped',
  });
  // From the cell that lists: all its items, and no others.
  expect(await place.sluice('rerun', whole, '--from', 'split/A')).toMatchObject({ exitCode: 0 });
  expect(await statuses(await newest())).toEqual({
    split: 'A succeeded, B reused, C reused',
    work: 'A,p1 succeeded, A,p2 succeeded, B,p1 reused, B,p2 reused, B,p3 reused',
    sort: 'A,p1 succeeded, A,p2 succeeded, B,p1 reused, B,p2 reused, B,p3 reused',
    join: 'A succeeded, B reused, C skipped',
  });
  const missing = await place.sluice('rerun', whole, '--from', 'work/A,p3');
  expect(missing.exitCode).toBe(2);
  expect(missing.stderr).toContain('work/A,p3');
});

const LEDGER = `failFast: false
${AXES}
volumes: { books: {} }
steps:
  ${SPLIT}
  work:
    each: part
    inputs: { books: { from: volumes.books, writable: true } }
    script: 'echo work/\${{ each.sample }},\${{ each.part }} >> /in/books/ledger; while [ ! -e /in/books/open ]; do sleep 0.05; done; echo \${{ each.part }} > /out/x/f'
    outputs: [x]
    timeout: 2m
  sort: { each: part, inputs: { x: work.x }, script: 'cat /in/x/f > /out/x/f', outputs: [x] }
  join: { each: sample, inputs: { x: sort.x }, script: 'cat /in/x/*/f > /out/all/f', outputs: [all] }
outputs: { all: { from: join.all, publish: ./results } }
`;

/** The ledger in which every container of `work` writes its name when it starts. */
function ledger(): string {
  if (!existsSync(join(place.home, 'service'))) return '';
  const files = readdirSync(join(place.home, 'service'), { recursive: true, withFileTypes: true });
  const found = files.find(({ name }) => name === 'ledger');
  return found === undefined ? '' : join(found.parentPath, 'ledger');
}

test.each(['keeps', 'loses'])(
  'a runner that is killed while listed cells run, and %s its journal, is followed by one that starts nothing twice',
  async (what) => {
    write(LEDGER);
    const run = place.start(['run', '--cpu', '8']);
    await until(() => ledger() !== '' && readFileSync(ledger(), 'utf8').split('\n').length === 6, 'all parts to run');
    run.process.kill('SIGKILL');
    await run.ended;
    const runId = await newest();
    if (what === 'loses') {
      rmSync(join(place.home, 'runs', runId), { recursive: true });
      const adopted = await place.sluice('adopt', runId, 'pipeline.yaml');
      expect(adopted, adopted.stderr).toMatchObject({ exitCode: 0 });
      expect(adopted.stdout).toMatch(/^work\/B,p3 +1 +Running$/m);
    }
    const next = place.start(['resume', runId, '--json']);
    await until(() => next.stdout() !== '', 'the run to be resumed');
    writeFileSync(join(ledger(), '..', 'open'), '');
    const ended = await next.ended;
    expect(ended.exitCode, ended.stdout + ended.stderr).toBe(0);
    expect(place.read('results/A/f')).toBe('p1\np2\n');
    expect(place.read('results/B/f')).toBe('p1\np2\np3\n');
    expect(readFileSync(ledger(), 'utf8').trimEnd().split('\n').sort()).toEqual([
      'work/A,p1',
      'work/A,p2',
      'work/B,p1',
      'work/B,p2',
      'work/B,p3',
    ]);
    const made = (await place.containers()).map(
      ({ labels }) => `${labels?.['sluice-step']}/${labels?.['sluice-cell']}`,
    );
    expect(made.length).toBe(2 + 5 + 5 + 2);
    expect(new Set(made).size).toBe(made.length);
  },
);
