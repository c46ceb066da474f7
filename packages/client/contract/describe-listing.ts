import { describe, expect, it } from 'vitest';
import { all, ended, findVolume, freshId, makeVolume, reach, refOf, start } from './rig.ts';
import type { ServiceUnderTest, UnderTest } from './service-under-test.ts';

const CONTAINER_FIELDS = ['id', 'clusterID', 'accountID', 'image', 'phase', 'state', 'createTime'];
const VOLUME_FIELDS = ['id', 'clusterID', 'accountID', 'phase', 'state', 'createTime'];

/** Endpoints 4 and 9: what is listed, with which fields, over pages. */
export function describeListing(open: UnderTest): void {
  describe('listing', () => {
    it('list: without all only what has not ended, with all everything', async () => {
      const sut = open();
      const [live, over] = [await start(open, { end: 'never' }), await start(open, { end: 0 })];
      await Promise.all([reach(sut, live, 'Running'), ended(sut, over)]);
      const ids = async (every: boolean) =>
        (await all(sut.service.containers.list(sut.scope, { all: every }))).map((it) => it.id);
      const [some, everything] = [await ids(false), await ids(true)];
      expect([some.includes(live.id), some.includes(over.id)]).toEqual([true, false]);
      expect([everything.includes(live.id), everything.includes(over.id)]).toEqual([true, true]);
      await sut.service.containers.cancel(live);
    });

    it('list: a container carries the fields of the protocol and no other', async () => {
      const sut = open();
      const ref = await start(open, { end: 0 });
      const got = await ended(sut, ref);
      const item = (await all(sut.service.containers.list(sut.scope, { all: true }))).find((it) => it.id === ref.id);
      expect(Object.keys(item ?? {}).filter((it) => !CONTAINER_FIELDS.includes(it))).toEqual([]);
      const { phase, state, createTime } = got;
      expect(item).toMatchObject({ ...ref, phase, state, createTime });
    });

    it('list: pages of any size give each container once', async () => {
      const sut = open();
      const refs = await Promise.all(Array.from({ length: 7 }, () => start(open, { end: 0 }, 'page')));
      await Promise.all(refs.map((ref) => ended(sut, ref)));
      const whole = (await all(sut.service.containers.list(sut.scope, { all: true }))).map((it) => it.id);
      for (const pageSize of [1, 3, 7, 1000, 5000]) {
        const paged = (await all(sut.service.containers.list(sut.scope, { all: true, pageSize }))).map((it) => it.id);
        expect(paged, `pages of ${pageSize}`).toEqual(whole);
      }
      expect(new Set(whole).size).toBe(whole.length);
      for (const ref of refs) expect(whole).toContain(ref.id);
    });

    it('list: inserts and deletes between pages neither hide nor double anything else', async () => {
      const sut = open();
      const made = await Promise.all(Array.from({ length: 9 }, () => start(open, { end: 0 }, 'shift')));
      await Promise.all(made.map((ref) => ended(sut, ref)));
      const seen = await listWhileChanging(
        sut,
        open,
        made.map((it) => it.id),
      );
      const doubled = seen.ids.filter((id, index) => seen.ids.indexOf(id) !== index);
      expect(doubled).toEqual([]);
      for (const ref of made) if (!seen.deleted.has(ref.id)) expect(seen.ids).toContain(ref.id);
    });

    it('list: a volume carries the fields of the protocol and no other, and no password', async () => {
      const sut = open();
      const volume = await makeVolume(sut);
      const item = await findVolume(sut, volume.id);
      expect(Object.keys(item ?? {}).sort()).toEqual([...VOLUME_FIELDS].sort());
    });

    it('list: volumes of all clusters and accounts through the wildcard', async () => {
      const sut = open();
      const volume = await makeVolume(sut);
      const { clusterID, accountID } = sut.scope;
      for (const scope of [
        { clusterID: '-', accountID: '-' },
        { clusterID: '-', accountID },
        { clusterID, accountID: '-' },
      ]) {
        const ids = (await all(sut.service.volumes.list(scope))).map((it) => it.id);
        expect(ids, JSON.stringify(scope)).toContain(volume.id);
      }
    });

    it('list: pages of volumes give each once', async () => {
      const sut = open();
      const made = await Promise.all(Array.from({ length: 4 }, () => makeVolume(sut, 'pages')));
      const whole = (await all(sut.service.volumes.list(sut.scope))).map((it) => it.id);
      const paged = (await all(sut.service.volumes.list(sut.scope, { pageSize: 1 }))).map((it) => it.id);
      expect(paged).toEqual(whole);
      for (const volume of made) expect(whole).toContain(volume.id);
    });
  });
}

/** Lists in pages of one; after the third item, makes a container and deletes one that was listed and one that was not. */
async function listWhileChanging(sut: ServiceUnderTest, open: UnderTest, known: string[]) {
  const ids: string[] = [];
  const deleted = new Set<string>();
  let changed = false;
  for await (const item of sut.service.containers.list(sut.scope, { all: true, pageSize: 1 })) {
    ids.push(item.id);
    const listed = known.filter((id) => ids.includes(id));
    if (changed || listed.length < 3) continue;
    changed = true;
    const unlisted = known.filter((id) => !ids.includes(id));
    for (const id of [listed[0], item.id, unlisted[0], unlisted.at(-1)]) {
      if (id === undefined || deleted.has(id) || !known.includes(id)) continue;
      deleted.add(id);
      await sut.service.containers.delete(refOf(sut, id));
    }
    const fresh = freshId('shift');
    await sut.service.containers.create(sut.scope, sut.spec({ end: 0 }), { containerID: fresh });
    await start(open, { end: 0 }, 'a-shift');
  }
  expect(changed).toBe(true);
  return { ids, deleted };
}
