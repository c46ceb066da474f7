import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { limitLog } from '../../src/engines/limit-log.ts';

const LIMIT = 20_000;
let directory: string;
let log: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'sluice-log-'));
  log = join(directory, 'log');
  writeFileSync(log, 'first\n');
});
afterEach(() => rmSync(directory, { recursive: true }));

test('limitLog keeps the last lines of a command that ends while its log is cut', async () => {
  for (let round = 0; round < 20; round++) {
    // Lines one by one, so that there is always one about to be written.
    const script = `i=0; while [ $i -lt 3000 ]; do echo "line $i of round ${round}"; i=$((i+1)); done; echo "end ${round}"`;
    const command = spawn('sh', ['-c', `exec >>"$1"; ${script}`, 'sh', log]);
    const ended = new Promise((resolve) => command.once('close', resolve));
    while (command.exitCode === null) await limitLog(log, LIMIT);
    await ended;
    await limitLog(log, LIMIT);
    const text = readFileSync(log, 'utf8');
    expect(text.startsWith('first\n')).toBe(true);
    expect(text.slice(-100)).toMatch(new RegExp(`\nend ${round}\n$`));
    expect(statSync(log).size).toBeLessThanOrEqual(LIMIT);
  }
});
