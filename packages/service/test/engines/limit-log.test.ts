import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
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

// What is appended during a cut can be lost, hence the command writes its last lines between two cuts.
test('limitLog keeps the last lines that a command appended before a cut, and those after it', async () => {
  for (let round = 0; round < 20; round++) {
    // Lines one by one, so that during the first cuts there is always one about to be written.
    const script = `
      write() { i=0; while [ $i -lt 3000 ]; do echo "line $i of $1 ${round}"; i=$((i+1)); done; echo "end of $1 ${round}"; echo >&3; }
      write first; read -r _; write second; read -r _; echo "end ${round}"`;
    const command = spawn('sh', ['-c', `exec >>"$1"; ${script}`, 'sh', log], {
      stdio: ['pipe', 'ignore', 'inherit', 'pipe'],
    });
    const ended = once(command, 'close');
    const reports = command.stdio[3] as Readable;
    let isWriting = true;
    reports.once('data', () => {
      isWriting = false;
    });
    while (isWriting) await limitLog(log, LIMIT);
    const second = once(reports, 'data');
    command.stdin?.write('\n');
    await second;
    await limitLog(log, LIMIT);
    expect(readFileSync(log, 'utf8')).toMatch(new RegExp(`\nend of second ${round}\n$`));
    command.stdin?.end('\n');
    await ended;
    await limitLog(log, LIMIT);
    const text = readFileSync(log, 'utf8');
    expect(text.startsWith('first\n')).toBe(true);
    expect(text).toContain(`\n[sluice] the log has reached its limit of ${LIMIT} bytes; `);
    expect(text).toMatch(new RegExp(`\nline 2999 of second ${round}\nend of second ${round}\nend ${round}\n$`));
    expect(statSync(log).size).toBeLessThanOrEqual(LIMIT);
  }
});
