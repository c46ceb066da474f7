import { describe, expect, it } from 'vitest';
import { ended, freshId, reach, refOf, rejected, start } from './rig.ts';
import type { UnderTest } from './service-under-test.ts';

/** Endpoint 7: what create gives back, and what it makes of an ID. */
export function describeCreate(open: UnderTest): void {
  describe('create', () => {
    it('create: takes the chosen ID and echoes what the client gave', async () => {
      const sut = open();
      const id = freshId('echo');
      const spec = { ...sut.spec({ end: 0 }), labels: { run: 'r1', step: 'fit' }, envs: { GREETING: 'grüß dich' } };
      const created = await sut.service.containers.create(sut.scope, spec, { containerID: id });
      expect(created).toMatchObject({ ...sut.scope, id, ...spec });
      const got = await sut.service.containers.get(refOf(sut, id));
      expect(got).toMatchObject({ ...sut.scope, id, ...spec });
      await ended(sut, refOf(sut, id));
    });

    it('create: makes up an ID of [a-z0-9-] where none is chosen', async () => {
      const sut = open();
      const one = await sut.service.containers.create(sut.scope, sut.spec({ end: 0 }));
      const two = await sut.service.containers.create(sut.scope, sut.spec({ end: 0 }));
      for (const { id } of [one, two]) expect(id).toMatch(/^[a-z0-9-]{1,63}$/);
      expect(one.id).not.toBe(two.id);
      await Promise.all([ended(sut, refOf(sut, one.id)), ended(sut, refOf(sut, two.id))]);
    });

    it('create: takes IDs of one and of 63 characters', async () => {
      const sut = open();
      const long = freshId('x'.repeat(52));
      expect(long).toHaveLength(63);
      await sut.service.containers.create(sut.scope, sut.spec({ end: 0 }), { containerID: long });
      await ended(sut, refOf(sut, long));
    });

    it('create: can be got at once, by whoever knows the ID', async () => {
      const sut = open();
      const ref = await start(open, { end: 'never' });
      expect((await sut.service.containers.get(ref)).id).toBe(ref.id);
      await sut.service.containers.cancel(ref);
    });

    it('create: an ID in use is a conflict, with the same spec too, and starts nothing', async () => {
      const sut = open();
      const ref = await start(open, { output: ['once\n'], end: 'never' });
      const before = await reach(sut, ref, 'Running');
      const again = sut.spec({ output: ['once\n'], end: 'never' });
      await rejected(sut.service.containers.create(sut.scope, again, { containerID: ref.id }), 'ALREADY_EXISTS');
      const after = await sut.service.containers.get(ref);
      expect([after.createTime, after.runID]).toEqual([before.createTime, before.runID]);
      await sut.service.containers.cancel(ref);
    });

    it('create: of many calls with one ID exactly one wins', async () => {
      const sut = open();
      const id = freshId('race');
      const calls = Array.from({ length: 8 }, () =>
        sut.service.containers.create(sut.scope, sut.spec({ end: 0 }), { containerID: id }),
      );
      const outcomes = await Promise.allSettled(calls);
      expect(outcomes.filter((it) => it.status === 'fulfilled')).toHaveLength(1);
      await ended(sut, refOf(sut, id));
    });

    it('create: an ended container keeps its ID until it is deleted', async () => {
      const sut = open();
      const ref = await start(open, { end: 0 });
      const first = await ended(sut, ref);
      const create = () => sut.service.containers.create(sut.scope, sut.spec({ end: 3 }), { containerID: ref.id });
      await rejected(create(), 'ALREADY_EXISTS');
      await sut.service.containers.delete(ref);
      await create();
      const second = await ended(sut, ref);
      expect([first.phase, second.phase]).toEqual(['Succeeded', 'Failed']);
      expect([second.createTime, second.runID]).not.toEqual([first.createTime, first.runID]);
    });

    it('create: the wildcard as cluster lets the service choose by the instance type', async () => {
      const sut = open();
      const id = freshId('any');
      const scope = { ...sut.scope, clusterID: '-' };
      const created = await sut.service.containers.create(scope, sut.spec({ end: 0 }), { containerID: id });
      expect(created.clusterID).toBe(sut.scope.clusterID);
      await ended(sut, refOf(sut, id));
    });

    it('create: a named port gets a number of its own', async () => {
      const sut = open();
      const ids = [freshId('port'), freshId('port')];
      const spec = { ...sut.spec({ end: 'never' }), ports: { web: {}, 'web-2': {} } };
      const made = await Promise.all(
        ids.map((containerID) => sut.service.containers.create(sut.scope, spec, { containerID })),
      );
      const ports = made.flatMap((it) => [it.ports?.web?.port, it.ports?.['web-2']?.port]);
      for (const port of ports) expect(port).toSatisfy((it: number) => Number.isInteger(it) && it > 0 && it < 65_536);
      expect(new Set(ports).size).toBe(4);
      await Promise.all(ids.map((id) => sut.service.containers.cancel(refOf(sut, id))));
    });
  });
}
