import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createWorkplace } from './workplace-rig.ts';

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

test('show and the report have a grid: the row of a failed item comes first, and each cell has its keys in JSON', async () => {
  const place = createWorkplace();
  try {
    writeFileSync(join(place.directory, 'pipeline.yaml'), PIPELINE);
    expect(await place.sluice('run')).toMatchObject({ exitCode: 1 });
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
    const { runId } = (await place.runs())[0]!;
    const { steps } = await place.show(runId);
    expect(steps[0]).toMatchObject({
      each: ['unit'],
      cells: [{ cell: 'u1', axes: { unit: 'u1', sample: 'S1' } }, {}, {}],
    });
    const page = readFileSync(join(place.home, 'runs', runId, 'report.html'), 'utf8');
    expect(page).toContain('<td>S2</td><td class="failed"><span class="dot"></span>failed</td>');
  } finally {
    place.remove();
  }
});
