import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { COMMAND, createWorkplace } from './workplace-rig.ts';

test('a machine that is short of open files fails no step: what could not start is tried again', async () => {
  const place = createWorkplace();
  const cells = Array.from({ length: 60 }, (_, index) => index);
  const fan = {
    matrix: { i: cells },
    command: ['sh', '-c', 'sleep 0.3; echo $0 > /out/i', '${{ matrix.i }}'],
    outputs: { o: '/out' },
    instanceType: 'local-1',
    retry: { infrastructureLimit: 30, backoff: { initial: '200ms', max: '1s' } },
  };
  writeFileSync(join(place.directory, 'p.json'), JSON.stringify({ version: 1, name: 'p', steps: { fan } }));
  const line = `ulimit -n 110; exec ${process.execPath} ${COMMAND} run p.json --cores 60`;
  const { stdout, status } = spawnSync('sh', ['-c', line], { cwd: place.directory, encoding: 'utf8' });
  expect(stdout).toMatch(/attempt 2 after: .*Too many open files/);
  expect(stdout).toMatch(/p succeeded in .*: 60 succeeded/);
  expect(status).toBe(0);
  place.remove();
});
