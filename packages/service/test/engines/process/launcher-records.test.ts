import { spawnSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { parseExitRecord } from '../../../src/engines/process/container-record.ts';
import { parseLauncherEvent } from '../../../src/engines/process/launcher-event.ts';
import { renderFrame } from '../../../src/engines/process/launcher-frame.ts';
import { quote } from '../../../src/engines/process/shell-request.ts';

describe('parseExitRecord', () => {
  test('reads each kind of end', () => {
    expect(parseExitRecord('exited 0 0 0 1000 2000')).toEqual({
      startedAt: 1000,
      endedAt: 2000,
      end: { kind: 'exited', exitCode: 0 },
    });
    expect(parseExitRecord('exited 137 9 1 1 2').end).toEqual({
      kind: 'exited',
      exitCode: 137,
      signal: 'SIGKILL',
      outOfMemory: true,
    });
    expect(parseExitRecord('exited 164 36 0 1 2').end).toMatchObject({ signal: 'SIG36' });
    expect(parseExitRecord('stopped 1 2')).toEqual({ startedAt: 1, endedAt: 2, end: { kind: 'stopped' } });
    expect(parseExitRecord('refused 5 no such thing').end).toEqual({ kind: 'refused', reason: 'no such thing' });
  });

  test.each(['', 'exited', 'exited 0', 'stopped', 'gone 1 2', 'refused 5'])('throws on %j', (text) => {
    expect(() => parseExitRecord(text)).toThrow('could not read the exit record');
  });
});

test('parseLauncherEvent keeps the spaces of a reason and throws on what it does not know', () => {
  expect(parseLauncherEvent('refused 7 could not  mount')).toEqual({
    type: 'refused',
    id: '7',
    reason: 'could not  mount',
  });
  expect(parseLauncherEvent('ready cgroup1 affinity')).toEqual({ type: 'ready', memory: 'cgroup1', cores: 'affinity' });
  expect(() => parseLauncherEvent('hello 7')).toThrow("could not read the launcher's line 'hello 7'");
});

test('renderFrame counts bytes, not characters', () => {
  expect(renderFrame(['ж', ''])).toEqual(Buffer.from([4, 0, 0, 0, 0xd0, 0xb6, 0, 0]));
});

test('quote gives back every byte through a real sh', () => {
  const ascii = Array.from({ length: 127 }, (_, i) => String.fromCharCode(i + 1)).join('');
  const text = `${ascii}''ж$(id)\`id\`\n\n`;
  const { stdout } = spawnSync('sh', ['-c', `printf %s ${quote(text)}`], { encoding: 'utf8' });
  expect(stdout).toBe(text);
});
