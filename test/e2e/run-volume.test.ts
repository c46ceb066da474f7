import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createWorkplace } from './workplace-rig.ts';

const FILE = `
version: 1
name: scratch
volumes: { scratch: { retain: false }, kept: {} }
steps:
  first:
    script: date +%N > /in/scratch/mark-of-a-run; echo >> /in/kept/runs
    inputs:
      scratch: { from: volumes.scratch, writable: true }
      kept: { from: volumes.kept, writable: true }
  second:
    needs: [first]
    script: ls /in/scratch > /sluice/results/files; wc -l < /in/kept/runs > /sluice/results/runs
    inputs: { scratch: volumes.scratch, kept: volumes.kept }
    results: { files: string, runs: integer }
`;

test('a volume of `retain: false` is empty in each run, shared by its steps, and goes with it', async () => {
  const place = createWorkplace();
  try {
    writeFileSync(join(place.directory, 'p.yaml'), FILE);
    for (const runs of [1, 2]) {
      const run = await place.sluice('run', 'p.yaml');
      expect(run).toMatchObject({ exitCode: 0, stderr: '' });
      expect(run.stdout).toMatch(/second +files +mark-of-a-run\n/);
      expect(run.stdout).toMatch(new RegExp(`second +runs +${runs}\n`));
    }
    const marks = () => execFileSync('find', [place.home, '-name', 'mark-of-a-run'], { encoding: 'utf8' }).match(/\n/g);
    expect(marks()).toHaveLength(2);
    expect(await place.sluice('gc', '--older-than', '0s')).toMatchObject({ exitCode: 0 });
    expect(marks()).toBeNull();
    expect((await place.sluice('run', 'p.yaml')).stdout).toMatch(/second +runs +3\n/);
  } finally {
    place.remove();
  }
});
