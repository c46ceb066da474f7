import { describe, expect, it } from 'vitest';
import { json, type Seen } from '../rig/scripted-server.ts';
import { SCOPE, withService } from '../rig/with-service.ts';

const query = (seen: Seen) => Object.fromEntries(new URL(seen.url, 'http://x').searchParams);
const item = (id: string) => ({ ...SCOPE, id });

describe('pages', () => {
  it('list: asks for page after page with the token of the one before', async () => {
    const { service, server } = await withService((seen, reply) => {
      const { nextPageToken } = query(seen);
      if (nextPageToken === undefined) json(reply, { containers: [item('a'), item('b')], nextPageToken: 'p/2=&' });
      else if (nextPageToken === 'p/2=&') json(reply, { containers: [], nextPageToken: 'p3' });
      else json(reply, { containers: [item('c')], nextPageToken: '' });
    });
    const ids: string[] = [];
    for await (const { id } of service.containers.list(SCOPE, { all: true, pageSize: 2 })) ids.push(id);
    expect(ids).toEqual(['a', 'b', 'c']);
    expect(server.seen.map(query)).toEqual([
      { all: 'true', pageSize: '2' },
      { all: 'true', pageSize: '2', nextPageToken: 'p/2=&' },
      { all: 'true', pageSize: '2', nextPageToken: 'p3' },
    ]);
  });

  it.each([{}, { nextPageToken: null }, { nextPageToken: '' }])('list: %j ends it', async (end) => {
    const { service, server } = await withService((_, reply) => json(reply, { volumes: [item('v')], ...end }));
    const ids: string[] = [];
    for await (const { id } of service.volumes.list(SCOPE)) ids.push(id);
    expect([ids, server.seen.length]).toEqual([['v'], 1]);
  });

  it('list: asks for no page that nobody reads', async () => {
    const { service, server } = await withService((_, reply) =>
      json(reply, { containers: [item('a'), item('b')], nextPageToken: 'more' }),
    );
    for await (const { id } of service.containers.list(SCOPE)) if (id === 'b') break;
    expect(server.seen).toHaveLength(1);
  });

  it('list: a token that comes again is INVALID_REPLY', async () => {
    const { service, server } = await withService((seen, reply) =>
      json(reply, { containers: [item('a')], nextPageToken: query(seen).nextPageToken === 'p1' ? 'p2' : 'p1' }),
    );
    const read = async () => {
      for await (const _ of service.containers.list(SCOPE));
    };
    await expect(read()).rejects.toMatchObject({ code: 'INVALID_REPLY' });
    expect(server.seen).toHaveLength(3);
  });

  it('list: empty page after empty page is INVALID_REPLY', async () => {
    const { service, server } = await withService((_, reply, number) =>
      json(reply, { volumes: [], nextPageToken: `p${number}` }),
    );
    const read = async () => {
      for await (const _ of service.volumes.list(SCOPE));
    };
    await expect(read()).rejects.toMatchObject({ code: 'INVALID_REPLY' });
    expect(server.seen.length).toBeLessThan(150);
  });

  it('list: a page in the middle is tried again like any other read', async () => {
    const { service } = await withService((seen, reply, number) => {
      if (number === 2) return void reply.destroy();
      json(
        reply,
        query(seen).nextPageToken === 'n'
          ? { containers: [item('b')] }
          : { containers: [item('a')], nextPageToken: 'n' },
      );
    });
    const ids: string[] = [];
    for await (const { id } of service.containers.list(SCOPE)) ids.push(id);
    expect(ids).toEqual(['a', 'b']);
  });
});
