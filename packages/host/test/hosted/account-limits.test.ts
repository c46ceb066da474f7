import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createLimitCheck } from '../../src/hosted/account-limits.ts';

const LIMITS = { concurrent: 1, steps: 10, storage: 100, submissionsPerMinute: 2 };

test('submissions of the last minute count, and an error says when the next is accepted', () => {
  let time = 1_000_000;
  const check = createLimitCheck('/nowhere', { limits: () => LIMITS, now: () => time });
  check.checkRate();
  time += 20_000;
  check.checkRate();
  const details = { limit: 'runs.submissionsPerMinute', maximum: 2, used: 2, wanted: 1 };
  const error = { status: 429, reason: 'QUOTA_EXCEEDED', retryAfterMs: 40_000, details };
  expect(() => check.checkRate()).toThrow(expect.objectContaining(error));
  time += 40_000;
  check.checkRate();
  expect(() => check.checkRate()).toThrow();
});

test('cells and stored bytes are limited, and stored bytes are measured again after a while', async () => {
  let time = 1_000_000;
  const home = mkdtempSync(join(tmpdir(), 'sluice-limits-'));
  try {
    const check = createLimitCheck(home, { limits: () => LIMITS, now: () => time });
    check.checkSteps(10);
    expect(() => check.checkSteps(11)).toThrow(expect.objectContaining({ status: 409 }));
    writeFileSync(join(home, 'journal.ndjson'), 'x'.repeat(60));
    await check.checkStorage(30);
    await expect(check.checkStorage(20)).rejects.toMatchObject({ status: 429, details: { used: 90, wanted: 20 } });
    expect(await check.findExcess()).toBeUndefined();
    writeFileSync(join(home, 'journal.ndjson'), 'x'.repeat(101));
    time += 60_000;
    expect(await check.findExcess()).toContain('use 101 bytes on the server, and may use 100');
    rmSync(join(home, 'journal.ndjson'));
    time += 60_000;
    expect(await check.findExcess()).toBeUndefined();
    await check.checkStorage(100);
  } finally {
    rmSync(home, { recursive: true });
  }
});
