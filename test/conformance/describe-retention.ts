import { describe, expect } from 'vitest';
import { clause } from './clause-test.ts';
import { findVolume, loginFields, makeVolume, NORTH, type Rig, reach, start, USER } from './conformance-rig.ts';

const HOUR_MS = 3_600_000;
const WEEK_MS = 7 * 24 * HOUR_MS;

/** Moves the service's time, and so must come after all that reckons with the present. */
export function describeRetention(rig: Rig): void {
  describe('retention', () => {
    clause(
      [
        'Container phases > #1',
        "Limits > Retention of a finished container's record and work directory",
        'Limits > Same containerID after cancel',
        'Limits > Retention of a non-forced deleted volume',
        '5. Delete a volume > #1',
      ],
      'records, logs, reserved IDs and deleted volumes are kept for seven days',
      async () => {
        const over = await start(rig(), 'echo kept');
        await reach(rig(), over.path, 'Succeeded');
        const canceled = await start(rig(), 'sleep 100');
        await rig().call('POST', `${canceled.path}:cancel`);
        await reach(rig(), canceled.path, 'Canceled');
        const [back, gone] = [await makeVolume(rig()), await makeVolume(rig())];
        for (const { path } of [back, gone]) expect((await rig().call('DELETE', path)).status).toBe(204);
        const again = () =>
          rig().call('POST', `${NORTH}/containers`, {
            query: { containerID: canceled.id },
            body: { instanceType: 'n-small', command: ['true'] },
          });

        await rig().advance(WEEK_MS - HOUR_MS);
        expect((await rig().call('GET', over.path)).json().phase).toBe('Succeeded');
        expect((await rig().call('GET', `${over.path}/logs`)).text).toBe('kept\n');
        expect((await again()).status).toBe(409);
        expect((await rig().call('POST', `${back.path}:undelete`)).status).toBe(204);

        await rig().advance(2 * HOUR_MS);
        expect((await rig().call('GET', over.path)).status).toBe(404);
        expect((await rig().call('GET', `${over.path}/logs`)).status).toBe(404);
        expect((await again()).status).toBe(200);
        expect([400, 404]).toContain((await rig().call('POST', `${gone.path}:undelete`)).status);
        expect((await findVolume(rig(), back.id))?.phase).toBe('Available');
      },
    );

    clause(['Limits > Same containerID after cancel'], 'delete frees a reserved ID at once', async () => {
      const { id, path } = await start(rig(), 'sleep 100');
      await rig().call('POST', `${path}:cancel`);
      await reach(rig(), path, 'Canceled');
      expect((await rig().call('DELETE', path)).status).toBe(204);
      const body = { instanceType: 'n-small', command: ['true'] };
      expect((await rig().call('POST', `${NORTH}/containers`, { query: { containerID: id }, body })).status).toBe(200);
    });

    clause(['Authentication > #6', 'Limits > Token lifetime'], 'a token lasts a month', async () => {
      const token = String((await rig().login(loginFields(USER))).headers.svc_token);
      const status = async () => (await rig().call('GET', 'clusters/-/accounts', { token })).status;
      await rig().advance(30 * 24 * HOUR_MS - HOUR_MS);
      expect(await status()).toBe(200);
      await rig().advance(2 * 24 * HOUR_MS);
      expect(await status()).toBe(401);
    });
  });
}
