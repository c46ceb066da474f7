import { describe, expect } from 'vitest';
import { clause } from './clause-test.ts';
import { type Fields, items, type Rig, reach, SOUTH, start } from './conformance-rig.ts';

export function describeListsAndLogs(rig: Rig): void {
  describe('listing containers', () => describeLists(rig));
  describe('logs', () => describeLogs(rig));
}

function describeLists(rig: Rig): void {
  clause(
    [
      'Endpoints > GET /clusters/{clusterID}/accounts/{accountID}/containers',
      '9. List containers > #1',
      '9. List containers > #4',
    ],
    'a list has what has not ended, or with all everything',
    async () => {
      const [live, over] = [
        await start(rig(), 'sleep 100', { account: SOUTH }),
        await start(rig(), 'exit 0', { account: SOUTH }),
      ];
      await reach(rig(), live.path, 'Running');
      await reach(rig(), over.path, 'Succeeded');
      const ids = async (query: Record<string, boolean>) =>
        (await items(rig(), `${SOUTH}/containers`, 'containers', query)).map((it) => it.id);
      for (const query of [{}, { all: false }]) expect(await ids(query)).toEqual([live.id]);
      expect(await ids({ all: true })).toEqual(expect.arrayContaining([live.id, over.id]));
      expect((await rig().call('GET', `${SOUTH}/containers`, { query: { all: 'maybe' } })).status).toBe(400);
      await rig().call('DELETE', live.path);
    },
  );

  clause(['Container > #5'], 'a list item has the seven fields, the image only where one was given', async () => {
    const { id, path } = await start(rig(), 'exit 0', { account: SOUTH });
    const got = await reach(rig(), path, 'Succeeded');
    const all = await items(rig(), `${SOUTH}/containers`, 'containers', { all: true });
    const item = all.find((it) => it.id === id) ?? {};
    expect(
      Object.keys(item)
        .filter((key) => key !== 'image')
        .sort(),
    ).toEqual(['accountID', 'clusterID', 'createTime', 'id', 'phase', 'state']);
    for (const [key, value] of Object.entries(item)) if (key !== 'image') expect(value, key).toEqual(got[key]);
  });

  clause(
    [
      '9. List containers > #2',
      '9. List containers > #3',
      '9. List containers > #4',
      'Limits > pageSize default',
      'Limits > #1',
    ],
    'containers come in pages, of a hundred by default and of a thousand at most',
    async () => {
      const made = await Promise.all(Array.from({ length: 102 }, () => start(rig(), 'sleep 100', { account: SOUTH })));
      const path = `${SOUTH}/containers`;
      const page = async (query: Record<string, string | number>) => {
        const { containers, nextPageToken } = (await rig().call('GET', path, { query })).json();
        return { ids: (containers as Fields[]).map((it) => it.id), nextPageToken: String(nextPageToken) };
      };
      const first = await page({});
      expect(first.ids).toHaveLength(100);
      const second = await page({ nextPageToken: first.nextPageToken });
      expect(second.nextPageToken).toBe('');
      expect([...first.ids, ...second.ids].sort()).toEqual(made.map((it) => it.id).sort());
      expect((await page({ pageSize: 5000 })).ids).toHaveLength(102);
      expect((await page({ pageSize: 7 })).ids).toEqual(first.ids.slice(0, 7));
      for (const pageSize of [0, -3, '1.5', 'x']) {
        expect((await rig().call('GET', path, { query: { pageSize } })).status, String(pageSize)).toBe(400);
      }
      expect((await rig().call('GET', path, { query: { nextPageToken: 'made-up' } })).status).toBe(400);
      await Promise.all(made.map((it) => rig().call('DELETE', it.path)));
    },
  );
}

function describeLogs(rig: Rig): void {
  clause(
    [
      'Endpoints > GET /clusters/{clusterID}/accounts/{accountID}/containers/{containerID}/logs',
      '10. Read logs > #1',
      '10. Read logs > #3',
    ],
    'a log is the bytes of stdout and stderr as plain text, whole or from the last lines',
    async () => {
      const { path } = await start(rig(), 'echo one; echo two >&2; printf "three\\nfour"; exit 1');
      await reach(rig(), path, 'Failed');
      const log = (query: Record<string, number>) => rig().call('GET', `${path}/logs`, { query });
      const whole = await log({});
      expect(whole.status).toBe(200);
      expect(whole.headers['content-type']).toMatch(/^text\/plain/);
      expect(whole.text).toBe('one\ntwo\nthree\nfour');
      expect((await log({ tail: 2 })).text).toBe('three\nfour');
      expect((await log({ tail: 0 })).text).toBe('');
      expect((await log({ tail: 99 })).text).toBe(whole.text);
      expect((await log({ tail: -1 })).status).toBe(400);
    },
  );

  clause(
    ['10. Read logs > #2'],
    'follow gives what is there, then what comes, and ends with the container',
    async () => {
      const { path } = await start(rig(), 'echo up; sleep 0.5; echo down');
      await reach(rig(), path, 'Running');
      const reply = await rig().open('GET', `${path}/logs`, { query: { follow: true } });
      const seen: Array<readonly [text: string, phase: unknown]> = [];
      for await (const part of reply.body) seen.push([String(part), (await rig().call('GET', path)).json().phase]);
      expect(seen.map(([text]) => text).join('')).toBe('up\ndown\n');
      expect(seen[0]).toEqual(['up\n', 'Running']);
      expect((await reach(rig(), path, 'Succeeded')).phase).toBe('Succeeded');
    },
  );

  clause(['10. Read logs > #2'], 'a log that is not followed ends at once while the container runs', async () => {
    const { path } = await start(rig(), 'echo up; sleep 100');
    await reach(rig(), path, 'Running');
    expect((await rig().call('GET', `${path}/logs`, { query: { follow: false } })).text).toSatisfy((it: string) =>
      'up\n'.startsWith(it),
    );
    await rig().call('DELETE', path);
  });
}
