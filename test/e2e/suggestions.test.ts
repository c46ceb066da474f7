import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createWorkplace, type Ended, type Workplace } from './workplace-rig.ts';

let place: Workplace;

beforeEach(() => {
  place = createWorkplace();
});

afterEach(() => place.remove());

function write(text: string): void {
  writeFileSync(join(place.directory, 'pipeline.yaml'), `version: 1\nname: p\n${text}`);
}

/** The commands in a text, each to the end of its clause. */
function findCommands({ stdout, stderr }: Ended): string[] {
  const found = `${stdout}${stderr}`.matchAll(
    /(?<=(?:with|see|next|then|or|in|show): |, or )sluice .*?(?= \(|;|, or |$)/gm,
  );
  return [...found].map(([command]) => command);
}

/** Pastes every command of the output. Returns their names and exit codes. */
async function paste(ended: Ended): Promise<readonly (readonly [name: string, exitCode: number | undefined])[]> {
  const codes: [string, number | undefined][] = [];
  for (const command of findCommands(ended)) {
    const words = command.split(' ').slice(1);
    codes.push([words[0]!, (await place.sluice(...words)).exitCode]);
  }
  return codes;
}

const FAILING = `
steps:
  prep: { command: [echo, ok] }
  fit: { matrix: { k: [1, 2] }, command: [sh, -c, "exit $0", "\${{ matrix.k - 1 }}"], needs: [prep] }
`;

test('what is suggested after a failure can be pasted', async () => {
  write(FAILING);
  const failed = await place.sluice('run', '--home', 'h2');
  expect(findCommands(failed).every((command) => command.endsWith(' --home h2'))).toBe(true);
  expect(await paste(failed)).toEqual([
    ['why', 0],
    ['logs', 0],
    ['rerun', 1],
  ]);
  const reused = await place.sluice('logs', 'prep', '--home', 'h2');
  expect(await paste(reused)).toEqual([['logs', 0]]);
  const ended = await place.sluice('resume', (await listRuns('h2'))[0]!, '--home', 'h2');
  expect(await paste(ended)).toEqual([['rerun', 1]]);
});

test('what is suggested for approvals can be pasted', async () => {
  write('steps: { ask: { approval: true } }\n');
  const asked = await place.sluice('run', '--stop-at-approval');
  expect(asked.exitCode).toBe(75);
  expect(findCommands(asked).map((command) => command.split(' ')[1])).toEqual(['approve', 'resume', 'detach']);
  const why = await place.sluice('why', 'ask');
  expect(findCommands(why).map((command) => command.split(' ')[1])).toContain('resume');
  const approved = await place.sluice(...findCommands(asked)[0]!.split(' ').slice(1));
  expect(approved.exitCode, approved.stderr).toBe(0);
  expect(await paste(approved)).toEqual([['resume', 0]]);
});

test('what is suggested for wrong names can be pasted', async () => {
  write('steps: { a: { command: [echo, hello] } }\n');
  await place.sluice('run');
  const [runId] = await listRuns();
  expect(await paste(await place.sluice('logs', runId!))).toEqual([['show', 0]]);
  expect(await paste(await place.sluice('show', 'nothing'))).toEqual([['runs', 0]]);
  expect(await paste(await place.sluice('schedule', 'pause', 'nothing'))).toEqual([['schedule', 0]]);
});

async function listRuns(home = place.home): Promise<string[]> {
  const { stdout } = await place.sluice('runs', '--json', '--home', home);
  return stdout.split('\n').flatMap((line) => (line === '' ? [] : [(JSON.parse(line) as { runId: string }).runId]));
}
