import { describe, expect, test } from 'vitest';
import { parseExitRecord } from '../../src/engines/exit-record.ts';

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
    expect(parseExitRecord('asked 143 1 2')).toEqual({
      startedAt: 1,
      endedAt: 2,
      end: { kind: 'fault', reason: 'the container was stopped from outside (exit code 143)' },
    });
    expect(parseExitRecord('rejected 5 no such thing').end).toEqual({ kind: 'rejected', reason: 'no such thing' });
  });

  test.each(['', 'exited', 'exited 0', 'stopped', 'gone 1 2', 'rejected 5'])('throws on %j', (text) => {
    expect(() => parseExitRecord(text)).toThrow('could not read the exit record');
  });
});
