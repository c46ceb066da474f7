import { describe, expect, test } from 'vitest';
import { containerId } from '../../src/identity/container-id.ts';
import { createRunId, isRunId } from '../../src/identity/run-id.ts';

describe('containerId', () => {
  const name = { runId: 'abcdefghijklm', step: 'fit', cell: 'seed-1', attempt: 1 };

  test('is a DNS label of about 30 characters, and the same for the same attempt', () => {
    expect(containerId(name)).toMatch(/^[a-z][a-z0-9-]{26}-1$/);
    expect(containerId(name)).toBe(containerId({ ...name }));
    expect(containerId({ ...name, attempt: 1_000_000 }).length).toBeLessThanOrEqual(63);
  });

  test('differs with the run, the step, the cell and the attempt', () => {
    const others = [{ runId: 'bbcdefghijklm' }, { step: 'fi', cell: 'tseed-1' }, { cell: 'seed-2' }, { attempt: 2 }];
    const ids = others.map((other) => containerId({ ...name, ...other }));
    expect(new Set([containerId(name), ...ids]).size).toBe(5);
  });
});

describe('createRunId', () => {
  test('gives 65 random bits in lower-case base32', () => {
    const ids = Array.from({ length: 1000 }, createRunId);
    expect(ids.every(isRunId)).toBe(true);
    expect(new Set(ids).size).toBe(1000);
  });
});
