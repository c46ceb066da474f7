import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { withService } from '../../src/connect/with-service.ts';
import { createTestContext } from '../recording-terminal.ts';

test('withService says that a run of another service needs that service', async () => {
  const cwd = await mkdtemp(join(tmpdir(), 'sluice-with-service-'));
  onTestFinished(() => rm(cwd, { recursive: true, force: true }));
  const context = createTestContext({ cwd, env: { SLUICE_HOME: join(cwd, 'home') } });
  const code = await withService({ context, options: {} }, async ({ service }) => {
    await service.containers.get({ clusterID: 'hpc', accountID: 'vision', id: 'fit-1' });
    return 0;
  });
  expect(code).not.toBe(0);
  expect(context.terminal.written().err).toMatch(
    /it is not yours; .*embedded service: name the run's service with --service/,
  );
});
