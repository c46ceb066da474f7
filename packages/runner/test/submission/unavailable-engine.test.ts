import { ServiceError } from '@sluice/client';
import { explainStep } from '@sluice/home';
import { expect, test } from 'vitest';
import { createHandPlan, createStep } from '../../../run/test/plans.ts';
import { startRun } from '../../src/run/start-run.ts';
import { createRig } from '../simulation/rig.ts';

const REASON = 'could not use cluster sim: connect ENOENT /var/run/docker.sock';

/** A rig whose service fails to create containers for some time, as `fail` says. */
function createAwayRig(seed: string, awayMs: number, fail: (containerID: string) => ServiceError) {
  const rig = createRig(seed);
  const { containers } = rig.options.service;
  const backAt = rig.clock.now() + awayMs;
  const service = {
    ...rig.options.service,
    containers: {
      ...containers,
      async create(...given: Parameters<typeof containers.create>) {
        if (rig.clock.now() >= backAt) return containers.create(...given);
        throw fail(given[2]?.containerID ?? '');
      },
    },
  };
  const start = (names: readonly string[]) =>
    rig.go(
      startRun({
        ...rig.options,
        service,
        plan: createHandPlan(names.map((name) => createStep(name))),
        baseDir: '/base',
      }),
    );
  const warnings = () => rig.events.flatMap((event) => (event.type === 'warning' ? [event] : []));
  const states = () => rig.events.flatMap((event) => (event.type === 'containerState' ? [event] : []));
  return { rig, start, warnings, states };
}

function replyUnavailable(containerID: string): ServiceError {
  const about = { status: 503, reason: 'ENGINE_UNAVAILABLE', retryAfterMs: 5000 };
  return new ServiceError(
    'UNAVAILABLE',
    `could not create container ${containerID}: the service replied 503 ${REASON}`,
    about,
  );
}

const WITHOUT_ID = `could not create the container: the service replied 503 ${REASON}`;

test('an engine that is known to be away is warned of once, is the reason of each step, and is explained by `why`', async () => {
  const { rig, start, warnings, states } = createAwayRig('engine away', 300_000, replyUnavailable);
  const began = rig.clock.now();
  const started = await start(['a', 'b']);
  if (!started.ok) throw new Error(started.error.message);
  await rig.until(() => rig.clock.now() >= began + 40_000);
  expect(warnings()).toMatchObject([
    { message: expect.stringContaining(`: ${WITHOUT_ID}; the service is asked again`), concerns: 'service' },
  ]);
  expect(warnings()[0]!.at - began).toBeLessThan(10_000);
  expect(states()).toHaveLength(2);
  for (const step of ['a', 'b']) {
    expect(states()).toContainEqual(expect.objectContaining({ step, phase: 'Creating', message: WITHOUT_ID }));
  }
  const { home } = rig.options;
  const explained = await rig.go(explainStep({ home, disk: rig.disk, runId: started.value.runId, step: 'b' }));
  expect(explained).toMatchObject({
    value: {
      status: 'submitting',
      message: 'its container is requested from the service, which has not confirmed it',
      warnings: [{ message: expect.stringContaining(REASON) }],
    },
  });
  expect(await rig.go(started.value.finished)).toMatchObject({ status: 'succeeded' });
  expect(rig.created()).toHaveLength(2);
});

test('a single reply without an engine is no reason for a warning', async () => {
  let replies = 0;
  const { rig, start, warnings, states } = createAwayRig('engine away once', 1, (id) => {
    replies++;
    return replyUnavailable(id);
  });
  const started = await start(['a']);
  if (!started.ok) throw new Error(started.error.message);
  expect(await rig.go(started.value.finished)).toMatchObject({ status: 'succeeded' });
  expect(replies).toBe(1);
  expect(warnings()).toEqual([]);
  expect(states().filter(({ message }) => message.includes(REASON))).toEqual([]);
});

test('a service that cannot be reached for longer than a restart takes is warned of', async () => {
  const unreachable = (id: string) =>
    new ServiceError('UNREACHABLE', `could not create container ${id}: connect ECONNREFUSED 10.0.0.1:443`);
  for (const [awayMs, expected] of [
    [5_000, []],
    [
      60_000,
      [
        {
          message:
            'could not start a: could not create the container: connect ECONNREFUSED 10.0.0.1:443; the service is asked again',
          concerns: 'service',
        },
      ],
    ],
  ] as const) {
    const { rig, start, warnings } = createAwayRig(`unreachable ${awayMs}`, awayMs, unreachable);
    const started = await start(['a']);
    if (!started.ok) throw new Error(started.error.message);
    expect(await rig.go(started.value.finished)).toMatchObject({ status: 'succeeded' });
    expect(warnings()).toMatchObject(expected);
  }
});
