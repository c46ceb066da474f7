import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CellList, GridPage } from '@sluice/host';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ServedApi, serveRunApi } from './run-api-rig.ts';
import { createWorkplace, type Workplace } from './workplace-rig.ts';

const PIPELINE = `version: 1
name: p
failFast: false
axes:
  sample: [S1, S2]
  unit: { items: [{ id: u1, sample: S1 }, { id: u2, sample: S1 }, { id: u3, sample: S2 }], key: "\${{ item.id }}", of: { sample: sample } }
steps:
  align: { each: unit, script: 'test \${{ each.unit.id }} != u3; echo > /out/bam/x', outputs: [bam] }
  sort: { each: sample, inputs: { bam: align.bam }, script: 'echo > /out/bam/y', outputs: [bam] }
  call: { each: sample, inputs: { bam: sort.bam }, script: 'true' }
`;

let place: Workplace;
let api: ServedApi;
let runId: string;
let events: readonly string[];

beforeAll(async () => {
  place = createWorkplace();
  writeFileSync(join(place.directory, 'pipeline.yaml'), PIPELINE);
  const { exitCode, stdout } = await place.sluice('run', '--json');
  expect(exitCode).toBe(1);
  events = stdout.split('\n');
  runId = (await place.runs())[0]!.runId;
  api = await serveRunApi({ home: place.home });
});
afterAll(async () => {
  await api.close();
  place.remove();
});

test('show has a grid: the row of a failed item comes first, and each cell has its keys in JSON', async () => {
  const { stdout } = await place.sluice('show');
  expect(stdout).toContain(
    [
      'SAMPLE  align          sort       call',
      'S2      failed         skipped    skipped',
      'S1      succeeded 2/2  succeeded  succeeded',
      '',
    ].join('\n'),
  );
  const { stdout: failed } = await place.sluice('show', '--rows', 'failed');
  expect(failed).toContain('1 more of 2 items of sample: 1 succeeded\n');
  const { steps } = await place.show(runId);
  const [u1] = steps[0]!.cells;
  expect([steps[0]!.each, u1!.axes]).toEqual([['unit'], { unit: 'u1', sample: 'S1' }]);
});

test('events have the keys of a cell', () => {
  const first = events.find((line) => line.includes('"cellChanged"') && line.includes('"u1"'));
  expect(JSON.parse(first!)).toMatchObject({ step: 'align', cell: 'u1', axes: { unit: 'u1', sample: 'S1' } });
});

test('the report has the grid', () => {
  const page = readFileSync(join(place.home, 'runs', runId, 'report.html'), 'utf8');
  expect(page).toContain('<td>S2</td><td class="failed"><span class="dot"></span>failed</td>');
});

async function get<T>(query: string): Promise<T & { readonly message?: string }> {
  return (await (await fetch(`${api.url}/runs/${runId}/${query}`)).json()) as T & { readonly message?: string };
}

test('the run API has the rows in pages, those with a failed cell, and the cells of a row', async () => {
  const { columns, rows, ...grid } = await get<GridPage>('grid?pageSize=1');
  expect(grid).toMatchObject({
    axes: ['sample'],
    choices: [['sample'], ['unit']],
    ...{ total: 2, rowCount: 2, failedCount: 1 },
  });
  expect(columns).toEqual([
    { step: 'align', stepIndex: 0, counts: { succeeded: 2, failed: 1 } },
    { step: 'sort', stepIndex: 1, counts: { succeeded: 1, skipped: 1 } },
    { step: 'call', stepIndex: 2, counts: { succeeded: 1, skipped: 1 } },
  ]);
  expect(rows).toEqual([
    {
      row: 'S1',
      entries: [
        { status: 'succeeded', cellIndex: 0, cellCount: 2, counts: { succeeded: 2 } },
        { status: 'succeeded', cellIndex: 0, cellCount: 1 },
        { status: 'succeeded', cellIndex: 0, cellCount: 1 },
      ],
    },
  ]);
  const second = await get<GridPage>(`grid?pageSize=1&pageToken=${grid.nextPageToken}`);
  expect(second.rows.map(({ row }) => row)).toEqual(['S2']);
  expect((await get<GridPage>('grid?firstRow=1')).rows).toEqual(second.rows);
  expect(await get<GridPage>('grid?failed=true')).toMatchObject({ rows: second.rows, total: 1, rowCount: 2 });
  expect((await get<GridPage>('grid?axes=unit')).rows.map(({ row, entries }) => [row, entries.length])).toEqual([
    ['u1', 1],
    ['u2', 1],
    ['u3', 1],
  ]);
  const { cells } = await get<CellList>('cells?row=S2');
  expect(cells.map(({ step, cell, status }) => `${step}/${cell} ${status}`)).toEqual([
    'align/u3 failed',
    'sort/S2 skipped',
    'call/S2 skipped',
  ]);
  expect((await get('grid?axes=group')).message).toContain('expected one of: sample | unit');
  expect((await get('cells?row=S9')).message).toBe(`the grid of run ${runId} has no row S9`);
  expect((await get('cells?axes=unit')).message).toContain('there is no row');
});

test('why follows an item to what it comes from, and names the root cause', async () => {
  const { stdout } = await place.sluice('why', 'call/S2');
  expect(stdout).toContain('root cause: align/u3 failed: exit code 1\n');
  expect(stdout).toContain('upstream\n  align/u3  failed\n  sort/S2   skipped\n');
  const { stdout: json } = await place.sluice('why', 'call/S1', '--json');
  const { upstream, rootCause } = JSON.parse(json) as { upstream: unknown; rootCause?: unknown };
  expect(upstream).toEqual([
    { step: 'align', cellCount: 2, status: 'succeeded' },
    { step: 'sort', cell: 'S1', status: 'succeeded' },
  ]);
  expect(rootCause).toBe(undefined);
});
