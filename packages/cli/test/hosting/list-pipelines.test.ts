import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { listPipelines } from '../../src/hosting/list-pipelines.ts';

let project: string;

beforeEach(() => {
  project = mkdtempSync(join(tmpdir(), 'sluice-project-'));
  mkdirSync(join(project, '.sluice'));
});
afterEach(() => rmSync(project, { recursive: true, force: true }));

function write(name: string, text: string): string {
  writeFileSync(join(project, name), text);
  return join(project, name);
}

test('lists the pipeline files beside the home with their parameters, and the errors of others', async () => {
  const params = 'params: { size: { type: integer, default: 3 }, name: { type: string, description: Whose } }';
  const good = write('a.yaml', `version: 1\nname: good\n${params}\nsteps: { one: { command: 'true' } }\n`);
  const bad = write('b.yml', 'version: 1\nname: bad\nsteps: { one: { comand: "true" } }\n');
  write('package.json', '{ "version": "1.0.0" }');
  write('notes.yaml', 'version: 3\nservices: {}\n');
  const listed = await listPipelines(join(project, '.sluice'));
  expect(listed).toEqual([
    {
      ...{ file: good, pipeline: 'good' },
      params: [
        { name: 'size', type: 'integer', required: false, default: 3 },
        { name: 'name', type: 'string', required: true, description: 'Whose' },
      ],
    },
    { file: bad, message: expect.stringContaining('comand'), params: [] },
  ]);
});

test('the directory of a home with another name is no project', async () => {
  write('a.yaml', `version: 1\nname: good\nsteps: { one: { command: 'true' } }\n`);
  mkdirSync(join(project, 'home'));
  expect(await listPipelines(join(project, 'home'))).toEqual([]);
});
