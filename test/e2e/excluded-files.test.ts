import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createWorkplace, parseLines, type Workplace } from './workplace-rig.ts';

let place: Workplace;
beforeEach(() => {
  place = createWorkplace();
  mkdirSync(join(place.directory, 'code/node_modules'), { recursive: true });
  for (const name of ['main.mjs', 'notes.tmp', 'run.log', 'node_modules/x.mjs']) write(`code/${name}`, name);
});
afterEach(() => place.remove());

const write = (file: string, text: string) => writeFileSync(join(place.directory, file), text);

const pipeline = (source: string) => `
version: 1
name: excluded
volumes:
  code: { source: ${source} }
steps:
  list:
    script: cd /in/code && find . -type f > /sluice/results/files
    inputs: { code: volumes.code }
    results: { files: string }
    cache: true
results: { files: list.files }
`;

async function run() {
  const { stdout, stderr } = await place.sluice('run', '--json');
  const last = parseLines(stdout).at(-1);
  if (last?.type !== 'runFinished') throw new Error(`the run did not finish: ${stdout}${stderr}`);
  const { steps, results } = last.report;
  return { reused: steps[0]?.reused === true, files: results?.files };
}

test('no container sees an excluded file, and only a change of the others reruns a step', async () => {
  write('pipeline.yaml', pipeline('{ path: ./code, exclude: [node_modules/, "*.log"] }'));
  write('code/.sluiceignore', '# by the editor\n*.tmp\n');
  expect(await run()).toEqual({ reused: false, files: './main.mjs' });
  write('code/run.log', 'another line');
  write('code/.sluiceignore', 'notes.*\n*.log\nnode_modules\n');
  expect(await run()).toEqual({ reused: true, files: './main.mjs' });
  write('pipeline.yaml', pipeline('./code'));
  expect(await run()).toEqual({ reused: true, files: './main.mjs' });
  write('code/main.mjs', 'changed');
  expect(await run()).toEqual({ reused: false, files: './main.mjs' });
});

test('what is wrong with an exclusion stops plan and run with its position, before a run exists', async () => {
  const faults = [
    ['{ path: ./code, exclude: ["./build"] }', '', 'volume `code` cannot exclude "./build": it has a part `.` or `..`'],
    ['./code', '[a\n', 'line 1 of its .sluiceignore, "[a", is not a valid pattern: its `[` has no `]`'],
    ['{ path: ./code/main.mjs, exclude: [x] }', '', 'it is a file, from which nothing can be excluded'],
  ] as const;
  for (const [source, lines, message] of faults) {
    write('pipeline.yaml', pipeline(source));
    write('code/.sluiceignore', lines);
    for (const command of ['plan', 'run']) {
      const { exitCode, stderr } = await place.sluice(command);
      expect({ exitCode, stderr }).toEqual({ exitCode: 2, stderr: expect.stringContaining(message) });
      expect(stderr).toMatch(/^pipeline\.yaml:5:\d+: error: /m);
    }
  }
  expect(await place.runs()).toEqual([]);
});
