import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createWorkplace, type Workplace } from './workplace-rig.ts';

let place: Workplace;

beforeEach(() => {
  place = createWorkplace();
});

afterEach(() => place.remove());

test('sluice gc frees an old run whole, and says so before with --dry-run', async () => {
  const text = `
version: 1
name: p
volumes:
  raw: { source: ./raw.txt }
steps:
  copy: { command: [cp, /in/raw/raw.txt, /out], inputs: { raw: volumes.raw }, outputs: { copied: /out } }
`;
  writeFileSync(join(place.directory, 'p.yaml'), text);
  writeFileSync(join(place.directory, 'raw.txt'), 'x'.repeat(5000));
  const ran = await place.sluice('run', 'p.yaml');
  expect(ran.exitCode, ran.stdout + ran.stderr).toBe(0);
  const [run] = await place.runs();
  expect(await place.sluice('gc')).toMatchObject({ exitCode: 0, stdout: 'freed 0 B: 0 items; 1 recent run kept\n' });
  expect(await place.sluice('gc', '--older-than', '1')).toMatchObject({ exitCode: 2 });
  const dry = await place.sluice('gc', '--older-than', '0s', '--dry-run');
  expect(dry.stdout).toMatch(new RegExp(`^would free +run ${run!.runId} of p`, 'm'));
  expect(await place.runs()).toHaveLength(1);
  const freed = await place.sluice('gc', '--older-than', '0s');
  expect(freed.stdout).toMatch(/^freed +source \w+ in volume ws-p-/m);
  expect(freed.exitCode, freed.stderr).toBe(0);
  expect(await place.runs()).toEqual([]);
  expect(await place.sluice('gc', '--older-than', '0s')).toMatchObject({ stdout: 'freed 0 B: 0 items\n' });
  expect((await place.sluice('run', 'p.yaml')).exitCode).toBe(0);
  expect(await place.sluice('orphans')).toMatchObject({
    exitCode: 0,
    stdout: 'no orphaned containers found\n',
  });
});
