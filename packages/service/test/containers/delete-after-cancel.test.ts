import { expect, it, onTestFinished } from 'vitest';
import { openRig, PRINCIPAL, SCOPE } from '../service-rig.ts';

it('a delete after a cancel kills immediately, whatever the grace period of the cancel', async () => {
  const rig = await openRig({ config: { cancelGrace: '11d' } });
  onTestFinished(() => rig.close());
  const { containers } = rig.service.inProcess(PRINCIPAL);
  const command = ['sh', '-c', 'trap "" TERM; echo up; while :; do sleep 0.05; done'];
  const ref = { ...SCOPE, id: 'stubborn' };
  await containers.create(SCOPE, { instanceType: 'small', command }, { containerID: ref.id });
  await expect.poll(async () => (await containers.get(ref)).phase).toBe('Running');
  await containers.cancel(ref);
  expect((await containers.get(ref)).phase).toBe('Canceling');
  await containers.delete(ref);
  await expect(containers.get(ref)).rejects.toThrow();
});
