import { mkdirSync, writeFileSync } from 'node:fs';
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

const CHAIN = `params: { samples: [A, B, C] }
axes: { sample: "\${{ params.samples }}" }
defaults: { cache: true }
steps:
  align: { each: sample, script: 'echo \${{ each.sample }} > /out/bam/x', outputs: [bam] }
  sort: { each: sample, inputs: { bam: align.bam }, script: 'cat /in/bam/x > /out/bam/y', outputs: [bam] }
  all: { inputs: { bam: sort.bam }, script: 'cat /in/bam/*/y > /out/all/all', outputs: [all] }
outputs: { all: { from: all.all, publish: ./results } }
`;

test('each item goes on by itself: one waits for what a later step of another one does', async () => {
  write(`axes: { sample: [slow, fast] }
volumes: { gate: {} }
steps:
  align:
    each: sample
    inputs: { gate: { from: volumes.gate, writable: true } }
    script: |
      [ "\${{ each.sample }}" != slow ] || while [ ! -e /in/gate/open ]; do sleep 0.05; done
      echo > /out/bam/x
    outputs: [bam]
    timeout: 1m
  sort:
    each: sample
    inputs: { bam: align.bam, gate: { from: volumes.gate, writable: true } }
    script: touch /in/gate/open
`);
  expect(await place.sluice('run')).toMatchObject({ exitCode: 0 });
  expect((await statuses(await newest())).sort).toBe('slow succeeded, fast succeeded');
});

test('a new item runs its own cells and what gathers all; a new field runs nothing', async () => {
  write(CHAIN);
  expect(await place.sluice('run')).toMatchObject({ exitCode: 0 });
  expect(place.read('results/all')).toBe('A\nB\nC\n');
  expect(await place.sluice('run', '-p', 'samples=["A", "B", "C", "D"]')).toMatchObject({ exitCode: 0 });
  expect(await statuses(await newest())).toEqual({
    align: 'A reused, B reused, C reused, D succeeded',
    sort: 'A reused, B reused, C reused, D succeeded',
    all: ' succeeded',
  });
  expect(place.read('results/all')).toBe('A\nB\nC\nD\n');
  const [run] = (await place.show(await newest())).steps[0]!.cells;
  expect(run).toMatchObject({ cell: 'A', axes: { sample: 'A' } });
});

test('a service runs for each item, until the cells of this item have ended', async () => {
  write(`axes: { sample: [A, B] }
volumes: { seen: {} }
steps:
  database:
    each: sample
    inputs: { seen: { from: volumes.seen, writable: true } }
    script: |
      echo \${{ each.sample }} > /tmp/name; trap 'exit 0' TERM
      exec node -e 'require("http").createServer((_, to) => to.end("\${{ each.sample }}")).listen(process.env.BAT_PORT_http)'
    ports: { http: {} }
    service: { ready: { port: http, path: / } }
  ask:
    each: sample
    inputs: { seen: { from: volumes.seen, writable: true } }
    script: |
      [ \${{ each.sample }} != B ] || while [ ! -e /in/seen/A-stopped ]; do sleep 0.05; done
      node -e 'fetch("\${{ steps.database.ports.http.url }}").then((got) => got.text()).then((text) => fs.writeFileSync("/out/answer/answer", text))'
    outputs: [answer]
    timeout: 1m
  after: { each: sample, needs: { database: completed }, inputs: { seen: { from: volumes.seen, writable: true } }, script: 'touch /in/seen/\${{ each.sample }}-stopped' }
outputs: { answer: { from: ask.answer, publish: ./results } }
`);
  expect(await place.sluice('run', '--cpu', '8')).toMatchObject({ exitCode: 0 });
  for (const sample of ['A', 'B']) expect(place.read(`results/${sample}/answer`)).toBe(sample);
  expect((await statuses(await newest())).database).toBe('A succeeded, B succeeded');
});

test('a volume of a used pipeline is one for each item for which the pipeline is used', async () => {
  writeFileSync(
    join(place.directory, 'count.yaml'),
    `version: 1
name: count
volumes: { list: {}, temp: { retain: false } }
steps:
  one: { inputs: { list: { from: volumes.list, writable: true }, temp: { from: volumes.temp, writable: true } }, script: 'echo x >> /in/list/x; echo y >> /in/temp/y' }
  two: { needs: one, inputs: { list: volumes.list, temp: volumes.temp }, script: 'cat /in/list/x /in/temp/y > /out/seen/seen', outputs: [seen] }
outputs: { seen: two.seen }
`,
  );
  write(`axes: { sample: [A, B, C] }
steps: { count: { uses: count.yaml, each: sample } }
outputs: { seen: { from: count.seen, publish: ./results } }
`);
  for (const lines of ['x\ny\n', 'x\nx\ny\n']) {
    expect(await place.sluice('run')).toMatchObject({ exitCode: 0 });
    for (const sample of ['A', 'B', 'C']) expect(place.read(`results/${sample}/seen`)).toBe(lines);
  }
});

test('the files of a source are items: a new file runs its own cell, a changed one its own', async () => {
  write(`volumes: { raw: { source: ./raw } }
axes: { reads: { items: { files: "volumes.raw/*.txt" } } }
defaults: { cache: true }
steps:
  trim:
    each: reads
    inputs: { raw: "volumes.raw/\${{ each.reads.path }}" }
    script: 'cat /in/raw > /out/out/\${{ each.reads.name }}'
    outputs: [out]
`);
  mkdirSync(join(place.directory, 'raw'));
  const put = (name: string, text: string) => writeFileSync(join(place.directory, 'raw', name), text);
  put('b.txt', 'b');
  put('a.txt', 'a');
  put('notes.md', 'left out');
  expect(await place.sluice('run')).toMatchObject({ exitCode: 0 });
  expect((await statuses(await newest())).trim).toBe('a succeeded, b succeeded');
  put('c.v2.txt', 'c');
  put('b.txt', 'changed');
  expect(await place.sluice('run')).toMatchObject({ exitCode: 0 });
  expect((await statuses(await newest())).trim).toBe('a reused, b succeeded, c succeeded');
  put('c.txt', 'c');
  const rejected = await place.sluice('run');
  expect(rejected.exitCode).toBe(2);
  expect(rejected.stderr).toContain('files `c.txt` and `c.v2.txt` have the same key `c`; `key: ${{ item.id }}`');
});

test('a failed item stops only its own cells, and names the cause; an optional input is empty', async () => {
  write(`failFast: false
axes: { sample: [A, B] }
steps:
  align: { each: sample, script: 'test \${{ each.sample }} != B; echo > /out/bam/x', outputs: [bam] }
  sort: { each: sample, inputs: { bam: align.bam }, script: 'true', outputs: [bam] }
  call: { each: sample, inputs: { bam: sort.bam }, script: 'true' }
  may: { each: sample, inputs: { bam: { from: align.bam, optional: true } }, script: 'ls /in/bam > /out/list/list', outputs: [list] }
`);
  expect(await place.sluice('run')).toMatchObject({ exitCode: 1 });
  expect(await statuses(await newest())).toEqual({
    align: 'A succeeded, B failed',
    sort: 'A succeeded, B skipped',
    call: 'A succeeded, B skipped',
    may: 'A succeeded, B succeeded',
  });
  expect((await place.sluice('why', 'call/B')).stdout).toContain('call/B  skipped  align/B did not succeed');
});

test('few items are in progress at once, each with its own timeout; a directory tolerates fewer failures than its step', async () => {
  write(`failFast: false
volumes: { log: {} }
axes:
  sample: { items: [A, B, C], parallelism: 1 }
  shard:
    items: [{ id: a1, of: A }, { id: c1, of: C }, { id: b1, of: B }, { id: b2, of: B }, { id: a2, of: A }, { id: c2, of: C }]
    key: "\${{ item.id }}"
    of: { sample: of }
steps:
  work:
    each: shard
    continueOnError: 25%
    timeout: "\${{ each.shard.id == 'b2' ? 1 : 60 }}s"
    inputs: { log: { from: volumes.log, writable: true } }
    script: |
      echo \${{ each.sample }} >> /in/log/log
      [ \${{ each.shard.id }} != b2 ] || sleep 60
      echo > /out/x/x
    outputs: [x]
  join:
    each: sample
    inputs: { x: work.x, log: { from: volumes.log, writable: true } }
    script: echo \${{ each.sample }} >> /in/log/log
  all: { inputs: { x: work.x, log: volumes.log }, needs: { join: completed }, script: 'cat /in/log/log > /out/log/log', outputs: [log] }
outputs: { log: { from: all.log, publish: ./results } }
`);
  expect(await place.sluice('run')).toMatchObject({ exitCode: 0 });
  expect(await statuses(await newest())).toEqual({
    work: 'a1 succeeded, c1 succeeded, b1 succeeded, b2 failed, a2 succeeded, c2 succeeded',
    join: 'A succeeded, B skipped, C succeeded',
    all: ' succeeded',
  });
  // The first cell decides which sample is in progress: none begins before the one before it has ended.
  expect(place.read('results/log')).toBe('A\nA\nA\nC\nC\nC\nB\nB\n');
  expect((await place.sluice('why', 'join/B')).stdout).toContain('join/B  skipped  work/b2 did not succeed');
});

test('each cell has its own retries and slots of a pool', async () => {
  write(`failFast: false
pools: { license: 2 }
axes: { sample: { items: [{ id: A, tries: 0 }, { id: B, tries: 2 }], key: "\${{ item.id }}" } }
steps:
  flaky:
    each: sample
    retry: { limit: "\${{ each.sample.tries }}", backoff: { initial: "\${{ each.sample.tries * 10 }}ms" } }
    script: '[ \${{ attempt }} = 3 ]'
  seats:
    each: sample
    pools: { license: "\${{ each.sample.tries == 0 ? 1 : 2 }}" }
    script: 'true'
`);
  expect(await place.sluice('run')).toMatchObject({ exitCode: 1 });
  expect(await statuses(await newest())).toEqual({
    flaky: 'A failed, B succeeded',
    seats: 'A succeeded, B succeeded',
  });
  expect((await place.sluice('why', 'flaky/B')).stdout).toContain('retry 2 of 2 for failed');
  const { steps } = JSON.parse((await place.sluice('plan', '--json')).stdout);
  expect(steps[1].cells[1].pools).toEqual({ license: 2 });
  expect(steps[0].cells[1].retry).toMatchObject({ limit: 2, backoff: { initialMs: 20 } });
});

test('limits and requests depend on results and listed items; a value of another form fails its cell', async () => {
  write(`failFast: false
axes: { sample: [A, B, C, D], part: "\${{ steps.split.results.parts }}" }
defaults: { cache: true }
steps:
  count:
    each: sample
    script: |
      case \${{ each.sample }} in A) n=1;; B) n=60;; C) n=-1;; D) n=100000;; esac
      echo $n > /sluice/results/n
    results: { n: integer }
  sort:
    each: sample
    timeout: \${{ steps.count.results.n }}s
    resources: { memory: "\${{ steps.count.results.n }}GB" }
    script: '[ \${{ each.sample }} != A ] || sleep 60'
  small: { each: sample, retry: "\${{ steps.count.results.n == 60 ? 1 : 0 }}", script: '[ \${{ attempt }} = 2 ]' }
  split: { script: 'echo [1, 60] > /sluice/results/parts', results: { parts: array } }
  work: { each: part, timeout: "\${{ each.part }}s", script: '[ \${{ each.part }} = 60 ] || sleep 60' }
`);
  expect(await place.sluice('run')).toMatchObject({ exitCode: 1 });
  expect(await statuses(await newest())).toMatchObject({
    sort: 'A failed, B failed, C failed, D failed',
    small: 'A failed, B succeeded, C failed, D failed',
    work: '1 failed, 60 succeeded',
  });
  const why = async (cell: string) => (await place.sluice('why', cell)).stdout;
  expect(await why('sort/C')).toContain('step `sort`, cell C: `timeout` yields "-1s", which is not a duration');
  expect(await why('sort/D')).toContain('no instance type of cluster local has');
  expect(await why('work/1')).toContain('it ran longer than its timeout');
  const { steps } = JSON.parse((await place.sluice('plan', '--json')).stdout);
  expect(steps[1]).toMatchObject({ lateValues: ['timeout', 'resources.memory'] });
});

test('one command approves all cells that wait, or one of them', async () => {
  write(`axes: { sample: [A, B, C] }
steps:
  ok: { each: sample, approval: 'Release \${{ each.sample }}?' }
  release: { each: sample, needs: [ok], script: 'true' }
`);
  const run = place.start(['run']);
  await until(() => run.stdout().split('needs approval').length === 4, 'three questions');
  expect(run.stdout()).toContain('Release B?');
  expect(await place.sluice('approve', 'ok/B')).toMatchObject({
    exitCode: 0,
    stdout: expect.stringContaining('approved ok/B of run'),
  });
  await until(() => run.stdout().includes('release/B  succeeded'), 'B to be released');
  expect(run.stdout()).not.toContain('release/A  succeeded');
  expect(await place.sluice('approve', 'ok/B')).toMatchObject({ exitCode: 2 });
  expect(await place.sluice('approve', 'ok')).toMatchObject({ exitCode: 0 });
  expect(await run.ended).toMatchObject({ exitCode: 0 });
  expect((await statuses(await newest())).release).toBe('A succeeded, B succeeded, C succeeded');
});

test('a runner that is killed anywhere is followed by one that starts nothing twice', async () => {
  write(`axes: { sample: [A, B, C, D, E, F], caller: [x, y] }
steps:
  align: { each: sample, script: 'sleep 0.2; echo \${{ each.sample }} > /out/bam/x', outputs: [bam] }
  call: { each: [sample, caller], inputs: { bam: align.bam }, script: 'sleep 0.2; cat /in/bam/x > /out/vcf/v', outputs: [vcf] }
  table: { each: caller, inputs: { vcf: call.vcf }, script: 'cat /in/vcf/*/v > /out/t/t', outputs: [t] }
outputs: { t: { from: table.t, publish: ./results } }
`);
  const run = place.start(['run']);
  await until(() => run.stdout().split('succeeded').length > 3, 'some cells to end');
  run.process.kill('SIGKILL');
  await run.ended;
  const second = place.start(['resume']);
  await until(() => second.stdout().split('succeeded').length > 5, 'more cells to end');
  second.process.kill('SIGKILL');
  await second.ended;
  expect(await place.sluice('resume')).toMatchObject({ exitCode: 0 });
  for (const caller of ['x', 'y']) expect(place.read(`results/${caller}/t`)).toBe('A\nB\nC\nD\nE\nF\n');
  const made = (await place.containers()).map(({ labels }) => `${labels?.['sluice-step']}/${labels?.['sluice-cell']}`);
  expect(made.length).toBe(6 + 12 + 2);
  expect(new Set(made).size).toBe(made.length);
});

const LISTED = `params: { samples: [slow, fast], parts: { slow: '["p1"]', fast: '["p1", "p2"]' } }
axes:
  sample: "\${{ params.samples }}"
  part: "\${{ steps.split.results.parts }}"
volumes: { gate: {} }
defaults: { cache: true }
steps:
  split:
    each: sample
    cache: false
    inputs: { gate: { from: volumes.gate, writable: true } }
    script: |
      [ "\${{ each.sample }}" != slow ] || while [ ! -e /in/gate/open ]; do sleep 0.05; done
      echo '\${{ params.parts[each.sample] }}' > /sluice/results/parts
    results: { parts: array }
    timeout: 1m
  work: { each: part, script: 'echo \${{ each.sample }} \${{ each.part }} > /out/x/f', outputs: [x] }
  join:
    each: sample
    cache: false
    inputs: { x: work.x, gate: { from: volumes.gate, writable: true } }
    script: touch /in/gate/open; cat /in/x/*/f > /out/all/f
    outputs: [all]
`;

test('a step lists the items of an axis: no list waits for another, and an added item runs its own cell', async () => {
  write(LISTED);
  expect(await place.sluice('run')).toMatchObject({ exitCode: 0 });
  expect(await statuses(await newest())).toEqual({
    split: 'slow succeeded, fast succeeded',
    work: 'slow,p1 succeeded, fast,p1 succeeded, fast,p2 succeeded',
    join: 'slow succeeded, fast succeeded',
  });
  const parts = 'parts={"slow": "[\\"p1\\", \\"p2\\"]", "fast": "[\\"p2\\", \\"p1\\"]"}';
  expect(await place.sluice('run', '-p', parts)).toMatchObject({ exitCode: 0 });
  // In the order of the lists, whichever is known first.
  expect((await statuses(await newest())).work).toBe(
    'slow,p1 reused, slow,p2 succeeded, fast,p2 reused, fast,p1 reused',
  );
});

test('the preview of a run with a list that is made again says how many cells of the others are reused', async () => {
  write(`axes: { sample: [A, B], part: "\${{ steps.split.results.parts }}" }
steps:
  split: { each: sample, script: 'echo "[1, 2]" > /sluice/results/parts', results: { parts: array } }
  work: { each: part, command: ['true'] }
`);
  expect(await place.sluice('run')).toMatchObject({ exitCode: 0 });
  expect((await place.sluice('plan', '--reuse')).stdout).toMatch(/ work +2 lists .* yes\n/);
  expect((await place.sluice('plan', '--from', 'split/A')).stdout).toMatch(/ work +2 lists .* 2: comes after split\n/);
});

const ALL_PARTS = `params: { parts: { A: '["p1", "p2"]', B: '["p1"]', C: '[]' } }
axes: { sample: [A, B, C], part: "\${{ steps.split.results.parts }}" }
defaults: { cache: true }
steps:
  split: { each: sample, script: 'echo "$LIST" > /sluice/results/parts', env: { LIST: "\${{ params.parts[each.sample] }}" }, results: { parts: array } }
  work: { each: part, script: 'echo \${{ each.sample }}-\${{ each.part }} > /out/x/f', outputs: [x] }
  near: { each: part, inputs: { x: { from: work.x, all: part } }, script: 'cd /in/x; echo $(cat */f) > /out/n/n', outputs: [n] }
  far: { each: part, inputs: { x: { from: work.x, all: sample } }, script: 'cd /in/x; echo $(cat */*/f) > /out/n/n', outputs: [n] }
outputs: { near: { from: near.n, publish: ./near }, far: { from: far.n, publish: ./far } }
`;

test('all: a cell of a listed axis reads all items of its list, or of all lists', async () => {
  write(ALL_PARTS);
  expect(await place.sluice('run')).toMatchObject({ exitCode: 0 });
  for (const part of ['p1', 'p2']) expect(place.read(`near/A/${part}/n`)).toBe('A-p1 A-p2\n');
  expect(place.read('near/B/p1/n')).toBe('B-p1\n');
  for (const part of ['A/p1', 'A/p2', 'B/p1']) expect(place.read(`far/${part}/n`)).toBe('A-p1 A-p2 B-p1\n');
  const parts = `parts={"A": "[\\"p1\\", \\"p2\\"]", "B": "[\\"p1\\", \\"p3\\"]", "C": "[]"}`;
  expect(await place.sluice('run', '-p', parts)).toMatchObject({ exitCode: 0 });
  const second = await statuses(await newest());
  expect(second.near).toBe('A,p1 reused, A,p2 reused, B,p1 succeeded, B,p3 succeeded');
  expect(second.far).toBe('A,p1 succeeded, A,p2 succeeded, B,p1 succeeded, B,p3 succeeded');
  expect(place.read('far/B/p3/n')).toBe('A-p1 A-p2 B-p1 B-p3\n');
});

const NEIGHBORS = `params:
  lists:
    A: '[{"id": "p1", "before": ""}, {"id": "p2", "before": "p1"}, {"id": "p3", "before": "p2"}]'
    B: '[{"id": "p1", "before": "p9"}]'
axes: { sample: [A, B], part: { items: "\${{ steps.split.results.parts }}", key: "\${{ item.id }}" } }
failFast: false
defaults: { cache: true }
steps:
  split: { each: sample, script: 'echo "$LIST" > /sluice/results/parts', env: { LIST: "\${{ params.lists[each.sample] }}" }, results: { parts: array } }
  work: { each: part, script: 'echo \${{ each.sample }}-\${{ each.part.id }} > /out/x/f', outputs: [x] }
  near: { each: part, inputs: { x: { from: work.x, where: { part: "\${{ each.part.before }}" } } }, script: 'cp /in/x/f /out/n/n', outputs: [n] }
  first: { each: sample, inputs: { x: { from: work.x, where: { part: p1 } } }, script: 'cp /in/x/f /out/n/n', outputs: [n] }
  other: { each: sample, inputs: { x: { from: near.n, where: { sample: A, part: p3 } } }, script: 'cp /in/x/n /out/n/n', outputs: [n] }
  some: { each: sample, inputs: { x: { from: work.x, where: { part: [p3, p1] } } }, script: 'cd /in/x; echo */* $(cat */*/f)' }
outputs: { first: { from: first.n, publish: ./first }, other: { from: other.n, publish: ./other } }
`;

test('where: a cell reads items of a list, and fails if the list does not have one of them', async () => {
  write(NEIGHBORS);
  expect(await place.sluice('run')).toMatchObject({ exitCode: 1 });
  const all = (status: string) => ({
    split: `A ${status}, B ${status}`,
    work: `A,p1 ${status}, A,p2 ${status}, A,p3 ${status}, B,p1 ${status}`,
    near: `A,p1 skipped, A,p2 ${status}, A,p3 ${status}, B,p1 failed`,
    first: `A ${status}, B ${status}`,
    other: `A ${status}, B ${status}`,
    some: `A ${status}, B failed`,
  });
  const sorted = async () =>
    Object.fromEntries(
      Object.entries(await statuses(await newest())).map(([step, cells]) => [
        step,
        cells.split(', ').sort().join(', '),
      ]),
    );
  expect(await sorted()).toEqual(all('succeeded'));
  expect([place.read('first/A/n'), place.read('first/B/n')]).toEqual(['A-p1\n', 'B-p1\n']);
  expect([place.read('other/A/n'), place.read('other/B/n')]).toEqual(['A-p2\n', 'A-p2\n']);
  expect((await place.sluice('logs', 'some/A')).stdout).toBe('A/p1 A/p3 A-p1 A-p3\n');
  expect((await place.sluice('why', 'some/B')).stdout).toContain(
    '`where` of input `x` of step `some` names the item `p3` of axis `part`, which is not in the list of `split`',
  );
  expect((await place.sluice('why', 'near/A,p1')).stdout).toContain('work has no cell for it');
  expect((await place.sluice('why', 'near/B,p1')).stdout).toContain(
    '`where` of input `x` of step `near` names the item `p9` of axis `part`, which is not in the list of `split`',
  );
  expect(await place.sluice('run')).toMatchObject({ exitCode: 1 });
  expect(await sorted()).toEqual(all('reused'));
});
