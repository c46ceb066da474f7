import { describe, expect, it } from 'vitest';
import { bytes, findVolume, freshId, makeVolume, reach, refOf, rejected } from './rig.ts';
import type { UnderTest } from './service-under-test.ts';
import { until } from './until.ts';

const DAY_MS = 86_400_000;

/** Endpoints 3 to 6, and the files behind the login. */
export function describeVolumes(open: UnderTest): void {
  describe('volumes', () => {
    it('create: takes the chosen ID, and a volume becomes Available', async () => {
      const sut = open();
      const volumeID = freshId('vol');
      const made = await sut.service.volumes.create(sut.scope, { volumeID });
      expect(made).toMatchObject({ ...sut.scope, id: volumeID });
      expect(made.service).toBeUndefined();
      const listed = await until('available', async () => {
        const volume = await findVolume(sut, volumeID);
        return volume?.phase === 'Available' && volume;
      });
      expect(listed.createTime).toMatch(/^\d{4}-\d\d-\d\dT/);
    });

    it('create: makes up an ID where none is chosen', async () => {
      const sut = open();
      const made = await sut.service.volumes.create(sut.scope);
      expect(made.id).toMatch(/^[a-z0-9-]{1,63}$/);
    });

    it('create: an ID in use is a conflict, also while the volume is Deleting', async () => {
      const sut = open();
      const { id } = await makeVolume(sut);
      await rejected(sut.service.volumes.create(sut.scope, { volumeID: id }), 'ALREADY_EXISTS');
      await sut.service.volumes.delete(refOf(sut, id));
      await rejected(sut.service.volumes.create(sut.scope, { volumeID: id }), 'ALREADY_EXISTS');
    });

    it('files: the login of create reads and writes the volume', async () => {
      const sut = open();
      const volume = await makeVolume(sut);
      const login = volume.service;
      if (login === undefined) throw new Error('The transfer service was asked for, but create gave no login');
      expect([login.username, login.password]).toSatisfy((it: string[]) => it.every((word) => word.length > 0));
      const files = sut.service.volumes.files(refOf(sut, volume.id), login);
      await files.write('in/greeting.txt', Buffer.from('hello'));
      expect((await bytes(await files.read('in/greeting.txt'))).toString()).toBe('hello');
    });

    it('files: another volume is not reached with the login', async () => {
      const sut = open();
      const [one, two] = [await makeVolume(sut), await makeVolume(sut)];
      if (one.service === undefined || two.service === undefined) throw new Error('No login');
      const crossed = { ...two.service, password: one.service.password };
      await rejected(
        sut.service.volumes.files(refOf(sut, two.id), crossed).stat('x'),
        'UNAUTHENTICATED',
        'PERMISSION_DENIED',
      );
    });

    it('delete: keeps the volume as Deleting; undelete brings it and its files back', async () => {
      const sut = open();
      const volume = await makeVolume(sut);
      const ref = refOf(sut, volume.id);
      if (volume.service === undefined) throw new Error('No login');
      const files = sut.service.volumes.files(ref, volume.service);
      await files.write('keep.txt', Buffer.from('kept'));
      await sut.service.volumes.delete(ref);
      expect((await findVolume(sut, volume.id))?.phase).toBe('Deleting');
      await expect(files.stat('keep.txt')).rejects.toMatchObject({ name: 'ServiceError' });
      await sut.service.volumes.undelete(ref);
      await until('available again', async () => (await findVolume(sut, volume.id))?.phase === 'Available');
      expect((await bytes(await files.read('keep.txt'))).toString()).toBe('kept');
    });

    it('delete: by force cannot be undone', async () => {
      const sut = open();
      const volume = await makeVolume(sut);
      const ref = refOf(sut, volume.id);
      await sut.service.volumes.delete(ref, { force: true });
      const { phase } = (await findVolume(sut, volume.id)) ?? {};
      expect(['Deleted', undefined]).toContain(phase);
      await rejected(sut.service.volumes.undelete(ref), 'FAILED_PRECONDITION', 'NOT_FOUND');
    });

    it('undelete: of a volume that is not Deleting is rejected', async () => {
      const sut = open();
      const ref = refOf(sut, (await makeVolume(sut)).id);
      await rejected(sut.service.volumes.undelete(ref), 'FAILED_PRECONDITION');
      expect((await findVolume(sut, ref.id))?.phase).toBe('Available');
    });

    it('delete: by force is rejected while a live container mounts the volume, the ordinary one is not', async () => {
      const sut = open();
      const { id } = await makeVolume(sut);
      const spec = { ...sut.spec({ end: 'never' }), volumeMounts: { [id]: '/data' } };
      const containerID = freshId('user');
      await sut.service.containers.create(sut.scope, spec, { containerID });
      const container = refOf(sut, containerID);
      await reach(sut, container, 'Running');
      await rejected(sut.service.volumes.delete(refOf(sut, id), { force: true }), 'FAILED_PRECONDITION');
      await sut.service.volumes.delete(refOf(sut, id));
      await rejected(sut.service.containers.create(sut.scope, spec), 'FAILED_PRECONDITION');
      expect((await sut.service.containers.get(container)).phase).toBe('Running');
      await sut.service.containers.cancel(container);
    });

    it('retention: a deleted volume can be restored for seven days and not much longer', async ({ skip }) => {
      const sut = open();
      if (sut.advance === undefined) return skip('the service has no clock to move');
      const [back, gone] = [refOf(sut, (await makeVolume(sut)).id), refOf(sut, (await makeVolume(sut)).id)];
      await Promise.all([sut.service.volumes.delete(back), sut.service.volumes.delete(gone)]);
      await sut.advance(7 * DAY_MS - 3_600_000);
      await sut.service.volumes.undelete(back);
      await sut.advance(2 * 3_600_000);
      await rejected(sut.service.volumes.undelete(gone), 'FAILED_PRECONDITION', 'NOT_FOUND');
      expect((await findVolume(sut, back.id))?.phase).toBe('Available');
    });
  });
}
