import { readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createWorkplace, type Workplace } from './workplace-rig.ts';

let place: Workplace;

beforeEach(() => {
  place = createWorkplace();
});
afterEach(() => place.remove());

const SIZE = 1024 * 1024;
const CHAIN = `version: 1
name: chain
params: { samples: [A, B], filter: loose }
axes: { sample: "\${{ params.samples }}" }
defaults: { cache: true }
steps:
  trim: { each: sample, script: 'head -c ${SIZE} /dev/zero > /out/o/x', outputs: { o: { temporary: true } } }
  align: { each: sample, inputs: { o: trim.o }, script: 'cp /in/o/x /out/o/x', outputs: { o: { temporary: true } } }
  sort: { each: sample, inputs: { o: align.o }, script: 'cp /in/o/x /out/o/x', outputs: { o: { temporary: true } } }
  mark: { each: sample, inputs: { o: sort.o }, script: 'cp /in/o/x /out/o/x', outputs: { o: { temporary: true } } }
  call: { each: sample, inputs: { o: mark.o }, script: 'wc -c < /in/o/x > /out/o/n; echo \${{ params.filter }}', outputs: [o] }
  table: { inputs: { o: call.o }, script: 'cat /in/o/*/n > /out/t/t', outputs: [t] }
outputs: { table: { from: table.t, publish: ./results } }
`;

/** The bytes of all files that the steps have written for each other. */
function bytesIn(home: string): number {
  const names = readdirSync(home, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('/x'));
  return names.reduce((sum, name) => sum + statSync(join(home, name)).size, 0);
}

const newest = async () => (await place.runs())[0]!.runId;

/** The cells that the newest run has executed. */
async function executed(): Promise<string[]> {
  const { steps } = await place.show(await newest());
  return steps.flatMap(({ step, cells }) =>
    cells.filter(({ reused }) => !reused).map(({ cell }) => (cell === '' ? step : `${step}/${cell}`)),
  );
}

test('temporary outputs take no space after their readers, and only what needs them runs again', async () => {
  writeFileSync(join(place.directory, 'pipeline.yaml'), CHAIN);
  expect(await place.sluice('run')).toMatchObject({ exitCode: 0 });
  expect(bytesIn(place.home)).toBe(0);
  const gone = 'it is temporary, and was removed when no cell of run';
  expect(await place.sluice('pull', 'mark/A.o')).toMatchObject({ exitCode: 2, stderr: expect.stringContaining(gone) });
  expect((await place.sluice('why', 'mark/A')).stdout).toContain('its output o was removed as temporary');
  expect(await place.sluice('run', '-p', 'samples=["A", "B", "C"]')).toMatchObject({ exitCode: 0 });
  expect(await executed()).toEqual(['trim/C', 'align/C', 'sort/C', 'mark/C', 'call/C', 'table']);
  expect(place.read('results/t')).toBe(`${SIZE}\n${SIZE}\n${SIZE}\n`);
  const planned = await place.sluice(
    'plan',
    '--reuse-from',
    await newest(),
    '-p',
    'samples=["A", "B", "C"]',
    '-p',
    'filter=strict',
  );
  expect(planned.stdout).toMatch(/mark .*the temporary outputs of 3 cells were removed, and cells that run mount them/);
  expect(await place.sluice('run', '-p', 'samples=["A"]', '-p', 'filter=strict')).toMatchObject({ exitCode: 0 });
  expect(await executed()).toEqual(['trim/A', 'align/A', 'sort/A', 'mark/A', 'call/A', 'table']);
  const why = await place.sluice('why', 'trim/A');
  expect(why.stdout).toContain('its temporary outputs were removed, and a cell that runs mounts them');
  expect(bytesIn(place.home)).toBe(0);
});
