import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createPlan, parsePipeline } from '@sluice/core';
import { startRun } from '@sluice/runner';
import { createService, serviceConfigSchema } from '@sluice/service';
import { describe, expect, it, onTestFinished } from 'vitest';

const daemons = [
  ['Docker', process.env.SLUICE_TEST_DOCKER_SOCKET],
  ['Podman', process.env.SLUICE_TEST_PODMAN_SOCKET],
] as const;
const image = process.env.SLUICE_TEST_DOCKER_IMAGE ?? '';
/** With a digest, so that no request to the registry precedes the pull. */
const DIGEST = `sha256:${'0'.repeat(64)}`;

/** The host of a registry that accepts connections and never replies. */
async function startSilentRegistry(): Promise<string> {
  const open = new Set<Socket>();
  const server = createServer((socket) => open.add(socket.on('error', () => {}))).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    for (const socket of open) socket.destroy();
    server.close();
  });
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Runs the steps on a service of its own with room for one container. */
async function runSteps(socketPath: string, steps: string) {
  const directory = mkdtempSync(join(tmpdir(), 'sluice-pull-'));
  const parsed = parsePipeline({ text: `version: 1\nname: pull\nsteps:\n${steps}`, file: 'pipeline.yaml' });
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.error));
  const plan = createPlan(parsed.value.pipeline);
  if (!plan.ok) throw new Error(JSON.stringify(plan.error));
  const scope = { clusterID: 'c1', accountID: 'team' };
  const config = serviceConfigSchema.parse({
    root: join(directory, 'service'),
    clusters: [
      {
        id: 'c1',
        engine: 'docker',
        options: { socketPath },
        accounts: ['team'],
        instanceTypes: [{ id: 'small', cpu: 1, memory: '1GB' }],
        capacity: { cpu: 1, memory: '1GB' },
      },
    ],
  });
  const service = await createService({ config });
  onTestFinished(async () => {
    await service.close();
    rmSync(directory, { recursive: true, force: true, maxRetries: 10 });
  });
  const started = await startRun({
    plan: plan.value,
    service: service.inProcess({ userId: 'tester', accounts: [scope] }),
    scope,
    home: join(directory, 'home'),
    baseDir: directory,
  });
  if (!started.ok) throw new Error(started.error.message);
  return await started.value.finished;
}

describe.each(daemons)('the timeout of a step on %s', (_, socketPath) => {
  const isThere = socketPath !== undefined || process.env.CI === 'true';

  it.skipIf(!isThere)('ends a pull from a registry that never replies', async () => {
    const registry = await startSilentRegistry();
    const report = await runSteps(
      socketPath ?? '',
      `  a: { image: "${registry}/some/image@${DIGEST}", command: ["true"], timeout: 2s }`,
    );
    expect(report.failures).toMatchObject([
      { step: 'a', reason: 'timeout', message: 'its image was not pulled within its timeout' },
    ]);
    expect(report.steps[0]?.status).toBe('failed');
  });

  it.skipIf(!isThere)('does not count a wait for capacity', async () => {
    const report = await runSteps(
      socketPath ?? '',
      `  holder: { image: "${image}", command: [sleep, "5"], priority: 1 }
  waiter: { image: "${image}", command: ["true"], timeout: 3s }`,
    );
    expect(report.failures).toEqual([]);
    expect(report.status).toBe('succeeded');
  });
});
