import { describe, expect, it } from 'vitest';
import { bytes, ended, reach, rejected, start } from './rig.ts';
import type { UnderTest } from './service-under-test.ts';

const DAY_MS = 86_400_000;

/** Endpoints 11 and 12, and what becomes of the ID. */
export function describeCancelAndDelete(open: UnderTest): void {
  describe('cancel and delete', () => {
    it('cancel: ends a running container as Canceled and keeps its log', async () => {
      const sut = open();
      const ref = await start(open, { output: ['before\n'], end: 'never' });
      await reach(sut, ref, 'Running');
      let log = '';
      for await (const part of sut.service.containers.logs(ref, { follow: true })) {
        log += Buffer.from(part).toString();
        if (log === 'before\n') break;
      }
      await sut.service.containers.cancel(ref);
      const { phase = '' } = await sut.service.containers.get(ref);
      expect(['Canceling', 'Canceled']).toContain(phase);
      expect((await ended(sut, ref)).phase).toBe('Canceled');
      expect((await bytes(sut.service.containers.logs(ref))).toString()).toBe('before\n');
    });

    it('cancel: may come again, while canceling and after', async () => {
      const sut = open();
      const ref = await start(open, { end: 'never' });
      await Promise.all([sut.service.containers.cancel(ref), sut.service.containers.cancel(ref)]);
      await sut.service.containers.cancel(ref);
      const canceled = await ended(sut, ref);
      await sut.service.containers.cancel(ref);
      expect(await sut.service.containers.get(ref)).toEqual(canceled);
    });

    it('cancel: right after create is accepted', async () => {
      const sut = open();
      const ref = await start(open, { end: 'never' });
      await sut.service.containers.cancel(ref);
      expect((await ended(sut, ref)).phase).toBe('Canceled');
    });

    it('cancel: does not turn another end into Canceled', async () => {
      const sut = open();
      const ref = await start(open, { end: 0 });
      const end = await ended(sut, ref);
      await rejected(sut.service.containers.cancel(ref), 'FAILED_PRECONDITION');
      expect(await sut.service.containers.get(ref)).toEqual(end);
    });

    it('cancel: reserves the ID until the container is deleted', async () => {
      const sut = open();
      const ref = await start(open, { end: 'never' });
      await sut.service.containers.cancel(ref);
      await ended(sut, ref);
      const create = () => sut.service.containers.create(sut.scope, sut.spec({ end: 0 }), { containerID: ref.id });
      await rejected(create(), 'ALREADY_EXISTS');
      await sut.service.containers.delete(ref);
      await create();
      expect((await ended(sut, ref)).phase).toBe('Succeeded');
    });

    it('delete: takes the record and the log away', async () => {
      const sut = open();
      const ref = await start(open, { output: ['gone\n'], end: 0 });
      await ended(sut, ref);
      await sut.service.containers.delete(ref);
      await rejected(sut.service.containers.get(ref), 'NOT_FOUND');
      await rejected(bytes(sut.service.containers.logs(ref)), 'NOT_FOUND');
      await rejected(sut.service.containers.cancel(ref), 'NOT_FOUND');
      await rejected(sut.service.containers.delete(ref), 'NOT_FOUND');
      for await (const item of sut.service.containers.list(sut.scope, { all: true })) expect(item.id).not.toBe(ref.id);
    });

    it('delete: works in any phase, and the ID can be used at once', async () => {
      const sut = open();
      const ref = await start(open, { output: ['old\n'], end: 'never' });
      await reach(sut, ref, 'Running');
      await sut.service.containers.delete(ref);
      await rejected(sut.service.containers.get(ref), 'NOT_FOUND');
      const spec = sut.spec({ output: ['new\n'], end: 0 });
      await sut.service.containers.create(sut.scope, spec, { containerID: ref.id });
      expect((await ended(sut, ref)).phase).toBe('Succeeded');
      expect((await bytes(sut.service.containers.logs(ref))).toString()).toBe('new\n');
    });

    it('retention: an ended container can be got for seven days and not much longer', async ({ skip }) => {
      const sut = open();
      if (sut.advance === undefined) return skip('the service has no clock to move');
      const kept = await start(open, { end: 0 });
      const canceled = await start(open, { end: 'never' });
      await ended(sut, kept);
      await sut.service.containers.cancel(canceled);
      await ended(sut, canceled);
      await sut.advance(7 * DAY_MS - 3_600_000);
      expect((await sut.service.containers.get(kept)).phase).toBe('Succeeded');
      const create = () => sut.service.containers.create(sut.scope, sut.spec({ end: 0 }), { containerID: canceled.id });
      await rejected(create(), 'ALREADY_EXISTS');
      await sut.advance(2 * 3_600_000);
      await rejected(sut.service.containers.get(kept), 'NOT_FOUND');
      await create();
      await ended(sut, canceled);
    });
  });
}
