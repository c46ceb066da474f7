import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createWorkplace, type Workplace } from './workplace-rig.ts';

let place: Workplace;

beforeEach(() => {
  place = createWorkplace();
});

afterEach(() => place.remove());

/** `cells` mounts the directory of a step with cells, `skipped` that of one which has published nothing. */
function write(more = ''): void {
  const text = `
version: 1
name: p
volumes: { own: {} }
steps:
  a: { script: echo 1 > /o/f, outputs: { o: /o } }
  fit: { matrix: { k: [1, 2] }, script: echo 1 > /o/f, outputs: { o: /o } }
  never: { when: "\${{ 1 > 2 }}", script: echo 1 > /o/f, outputs: { o: /o } }
  plain: { inputs: { x: a.o, y: a.o${more} }, script: cat /in/x/f /in/y/f }
  cells: { inputs: { x: fit.o, y: fit.o }, script: cat /in/x/k-1/f /in/y/k-2/f }
  skipped: { needs: { never: completed }, inputs: { x: never.o, y: never.o }, script: ls /in/x /in/y }
  volume: { inputs: { x: volumes.own, y: volumes.own }, script: ls /in/x /in/y }
`;
  writeFileSync(join(place.directory, 'p.yaml'), text);
}

test('a step mounts one output or volume twice', async () => {
  write();
  const ended = await place.sluice('run', 'p.yaml');
  expect(ended, ended.stdout).toMatchObject({ exitCode: 0 });
});

test('a third mount is rejected by sluice check', async () => {
  write(', z: a.o');
  const checked = await place.sluice('check', 'p.yaml');
  expect(checked).toMatchObject({ exitCode: 2 });
  expect(checked.stderr + checked.stdout).toContain('mounts `a.o` more than twice');
});
