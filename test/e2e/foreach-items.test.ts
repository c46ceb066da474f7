import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createWorkplace, type Workplace } from './workplace-rig.ts';

let place: Workplace;

beforeEach(() => {
  place = createWorkplace();
});

afterEach(() => place.remove());

const LIST = `
version: 1
name: items
failFast: false
steps:
  list:
    command: [sh, -c, 'cat "$LIST_FILE" > /sluice/results/list']
    env: { LIST_FILE: /in/list/list.json }
    inputs: { list: volumes.list }
    results: { list: array }
`;

test('cells of a foreach over maps have readable names, and their items are shown everywhere', async () => {
  writeFileSync(join(place.directory, 'list.json'), '[{"id":"S1","ok":true},{"id":"S2","ok":false}]');
  const steps = `  auto:
    foreach: \${{ steps.list.results.list }}
    command: [test, "\${{ item.ok }}", =, "true"]
  named:
    foreach: { items: "\${{ steps.list.results.list }}", key: "\${{ item.id }}" }
    command: [test, "\${{ item.ok }}", =, "true"]
`;
  writeFileSync(join(place.directory, 'p.yaml'), `${LIST}${steps}volumes: { list: { source: . } }\n`);
  const run = await place.sluice('run', 'p.yaml');
  expect(run).toMatchObject({ exitCode: 1 });
  expect(run.stdout).toMatch(/named\/s2 attempt 1: .*\n +item: \{"id":"S2","ok":false\}\n/);
  const [{ runId = '' } = {}] = await place.runs();
  const { steps: shown } = await place.show(runId);
  expect(shown.flatMap(({ cells }) => cells.map(({ cell, item }) => [cell, item]))).toEqual([
    ['', undefined],
    ['id-s1-ok-true', { id: 'S1', ok: true }],
    ['id-s2-ok-false', { id: 'S2', ok: false }],
    ['s1', { id: 'S1', ok: true }],
    ['s2', { id: 'S2', ok: false }],
  ]);
  expect((await place.sluice('why', 'auto/id-s1-ok-true')).stdout).toContain('item: {"id":"S1","ok":true}\n');
  expect((await place.sluice('report', '--to', 'page')).exitCode).toBe(0);
  const files = readdirSync(join(place.directory, 'page'));
  const text = (end: string) =>
    readFileSync(join(place.directory, 'page', files.find((name) => name.endsWith(end)) ?? ''), 'utf8');
  expect(text('.csv')).toMatch(/^named,s2,1,failed,failed,.*"\{""id"":""S2"",""ok"":false\}"\r$/m);
  expect(text('.html')).toContain('item: <code>{&quot;id&quot;:&quot;S2&quot;');
});

test('a list of 100,000 items is a result that conditions and foreach can use', async () => {
  const items = Array.from({ length: 100_000 }, (_, n) => ({ id: n, path: `/data/${'x'.repeat(100)}/${n}.bam` }));
  writeFileSync(join(place.directory, 'list.json'), JSON.stringify(items));
  const steps = `  few:
    when: \${{ size(steps.list.results.list) == 100000 }}
    foreach: \${{ steps.list.results.list.filter(item, item.id >= 99998) }}
    command: [echo, "\${{ item.id }}"]
`;
  writeFileSync(join(place.directory, 'p.yaml'), `${LIST}${steps}volumes: { list: { source: . } }\n`);
  const run = await place.sluice('run', 'p.yaml');
  expect(run).toMatchObject({ exitCode: 0, stderr: '' });
  expect(run.stdout).toMatch(/few +2 succeeded/);
});
