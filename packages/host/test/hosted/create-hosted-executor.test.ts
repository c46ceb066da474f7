import { fail } from '@sluice/core';
import type { RunError } from '@sluice/run';
import { expect, test } from 'vitest';
import type { StartRequest } from '../../src/api/run-api.ts';
import { createHostedExecutor } from '../../src/hosted/create-hosted-executor.ts';

const ORDER: StartRequest = {
  origin: { rerunOf: 'a' },
  reuse: true,
  from: ['fit'],
  params: {},
  command: 'sluice rerun a',
};

/** An account whose reruns are rejected. */
function createExecutor(rejection: RunError) {
  const requests: unknown[] = [];
  const rerun = async (runId: string, request: object) => {
    requests.push({ runId, ...request });
    return fail(rejection);
  };
  return { ...createHostedExecutor({ orders: { rerun } } as never), requests };
}

test('what only the client has is rejected with its command, everything else with its own reason', async () => {
  const lacking = createExecutor({ code: 'SECRET_MISSING', message: 'the pipeline needs the secret token' });
  await expect(lacking.start(ORDER, 'b')).rejects.toMatchObject({
    ...{ status: 409, reason: 'CLIENT_NEEDED' },
    message:
      'could not rerun run a on the server: it needs secrets, which the server has deleted at the end of the run; run on your machine: sluice rerun a',
  });
  const busy = createExecutor({ code: 'GROUP_BUSY', message: 'the concurrency group g is taken by run c' });
  await expect(busy.start(ORDER, 'b')).rejects.toMatchObject({
    ...{
      status: 409,
      reason: 'GROUP_BUSY',
      message: 'could not rerun run a: the concurrency group g is taken by run c',
    },
  });
  await expect(busy.start({ ...ORDER, reuse: false, from: [] }, 'b')).rejects.toMatchObject({ reason: 'GROUP_BUSY' });
  expect(busy.requests).toEqual([
    { runId: 'b', of: 'a', from: ['fit'] },
    { runId: 'b', of: 'a' },
  ]);
});

test('other parameters and pipeline files are rejected before anything is read', async () => {
  const executor = createExecutor({ code: 'GROUP_BUSY', message: '' });
  const changed = { ...ORDER, params: { size: 3 } };
  for (const act of [() => executor.preview(changed, true), () => executor.start(changed, 'b')])
    await expect(act()).rejects.toMatchObject({
      reason: 'CLIENT_NEEDED',
      message: expect.stringContaining('another value of parameter size needs; run on your machine: sluice rerun a'),
    });
  const file = { ...ORDER, origin: { file: '/p.yaml' } };
  expect(await executor.preview(file, true)).toMatchObject({ ok: false });
  expect(await executor.start(file, 'b')).toMatchObject({ ok: false });
  expect(executor.requests).toEqual([]);
});
