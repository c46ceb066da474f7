import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RunReport } from '@sluice/run';
import { expect, test } from 'vitest';
import { EXIT_CODE } from '../../src/context/exit-code.ts';
import { showEnd } from '../../src/runs/show-end.ts';
import { createTestContext } from '../recording-terminal.ts';

const SUSPENDED: RunReport = {
  ...{
    runId: 'r1',
    pipeline: 'digits',
    status: 'suspended',
    message: 'the journal is gone',
    createdAt: 0,
    startedAt: 0,
  },
  ...{ clusterId: 'local', accountId: 'local', outputs: {}, failures: [], steps: [] },
};

test('showEnd advises to resume a suspended run only while its home exists', async () => {
  const home = mkdtempSync(join(tmpdir(), 'sluice-home-'));
  const end = async () => {
    const context = createTestContext({ cwd: tmpdir(), env: { SLUICE_HOME: home } });
    const progress = { report: () => {}, print: () => {}, close: () => {} };
    expect(await showEnd(SUSPENDED, { context, progress, options: {} })).toBe(EXIT_CODE.suspended);
    return context.terminal.written().out;
  };
  expect(await end()).toContain('resume it with: sluice resume r1');
  rmSync(home, { recursive: true });
  const written = await end();
  expect(written).toContain('the journal is gone');
  expect(written).not.toContain('resume it with');
});
