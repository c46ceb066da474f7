import { afterEach, beforeAll, beforeEach, expect } from 'vitest';
import { daemonCall, hasDocker } from './docker-rig.ts';

/** A healthy daemon takes a second, on a machine that is busy with all else ten. */
const ANSWERS_WITHIN_MS = 60_000;

/**
 * A daemon that hangs (dockerd 20.10 now and then, where many containers start and end at once) would let each test wait
 * for its whole time. It is asked before each file that needs it and after each failure, and then all others fail at
 * once and by name.
 */
const needsDocker = hasDocker && /\/test\/engines\/(docker\/|[^/]+$)/.test(expect.getState().testPath ?? '');
let hang: Error | undefined;

beforeAll(() => (needsDocker ? look() : undefined), 2 * ANSWERS_WITHIN_MS);
beforeEach(() => {
  if (hang !== undefined) throw hang;
});
afterEach(({ task }) => (needsDocker && task.result?.state === 'fail' ? look() : undefined), 2 * ANSWERS_WITHIN_MS);

async function look(): Promise<void> {
  const signal = AbortSignal.timeout(ANSWERS_WITHIN_MS);
  try {
    const body = { Image: process.env.SLUICE_TEST_DOCKER_IMAGE, Cmd: ['true'] };
    const { status, text } = await daemonCall('POST', '/containers/create', { body, signal });
    if (status !== 201) throw new Error(text);
    const { Id } = JSON.parse(text) as { Id: string };
    await daemonCall('DELETE', `/containers/${Id}`, { signal });
  } catch (cause) {
    hang = new Error(`the daemon hangs: it has made and removed no container within ${ANSWERS_WITHIN_MS} ms`, {
      cause,
    });
    throw hang;
  }
}
