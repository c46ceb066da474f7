import { describe, expect, it } from 'vitest';
import { json } from '../rig/scripted-server.ts';
import { CONTAINER, outcome, REF, withLogin, withService } from '../rig/with-service.ts';

const MD5_OF_SECRET = '5ebe2294ecd0e0f08eab7690d2a6ee69';

describe('login', () => {
  it('login: sends the form of the protocol with the MD5 of the password', async () => {
    const { service, server } = await withLogin((seen, reply) => {
      if (seen.url === '/user/api/login') reply.writeHead(200, { svc_token: 'tok-1' }).end('{"userId":"u1"}');
      else json(reply, CONTAINER);
    });
    await service.containers.get(REF);
    const [login, get] = server.seen;
    expect(login?.method).toBe('POST');
    expect(login?.headers['content-type']).toBe('application/x-www-form-urlencoded');
    expect(Object.fromEntries(new URLSearchParams(login?.body))).toEqual({
      token_type: 'TOKEN',
      third_party: 'SELF',
      email: 'a@example.org',
      password: MD5_OF_SECRET,
    });
    expect(get?.headers.authorization).toBe('Bearer tok-1');
  });

  it('login: reads the token from the header of the configured name, in any case', async () => {
    const { service, server } = await withLogin(
      (seen, reply) => {
        if (seen.url.endsWith('/login')) reply.writeHead(200, { Para_Token: 'tok-2' }).end('{}');
        else json(reply, CONTAINER);
      },
      { tokenHeader: 'PARA_TOKEN' },
    );
    await service.containers.get(REF);
    expect(server.seen.at(-1)?.headers.authorization).toBe('Bearer tok-2');
  });

  it('login: goes to its own address, under its own path', async () => {
    const auth = await withService((_, reply) => void reply.writeHead(200, { svc_token: 'elsewhere' }).end('{}'));
    const { service, server } = await withLogin((_, reply) => json(reply, CONTAINER), {
      authUrl: `${auth.server.url}/id/`,
    });
    await service.containers.get(REF);
    expect(auth.server.seen.map((it) => it.url)).toEqual(['/id/user/api/login']);
    expect(server.seen.map((it) => it.headers.authorization)).toEqual(['Bearer elsewhere']);
  });

  it('login: many concurrent calls with an expired token make one login', async () => {
    let logins = 0;
    let good = 'tok-1';
    const { service, server } = await withLogin((seen, reply) => {
      if (seen.url.endsWith('/login')) {
        logins += 1;
        reply.writeHead(200, { svc_token: `tok-${logins}` }).end('{}');
      } else if (seen.headers.authorization === `Bearer ${good}`) json(reply, CONTAINER);
      else json(reply, { code: 401, message: 'expired' }, 401);
    });
    await Promise.all(Array.from({ length: 50 }, () => service.containers.get(REF)));
    expect(logins).toBe(1);
    good = 'tok-2';
    await Promise.all(Array.from({ length: 50 }, () => service.containers.get(REF)));
    expect(logins).toBe(2);
    expect(server.matching('/containers/').length).toBeLessThanOrEqual(150);
  });

  it('login: a fresh token that is rejected too is UNAUTHENTICATED, without a third try', async () => {
    let logins = 0;
    const { service, server } = await withLogin((seen, reply) => {
      if (!seen.url.endsWith('/login')) return json(reply, { code: 401, message: 'no' }, 401);
      logins += 1;
      reply.writeHead(200, { svc_token: `tok-${logins}` }).end('{}');
    });
    await expect(service.containers.get(REF)).rejects.toMatchObject({ code: 'UNAUTHENTICATED', status: 401 });
    expect([logins, server.matching('/containers/').length]).toEqual([2, 2]);
  });

  it('login: wrong credentials are UNAUTHENTICATED and not tried again', async () => {
    const { service, server } = await withLogin((_, reply) => json(reply, { code: 401, message: 'wrong' }, 401));
    await expect(service.containers.get(REF)).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
    expect(server.seen).toHaveLength(1);
  });

  it('login: a failure hidden in a 200 is an error', async () => {
    const { service } = await withLogin((_, reply) => json(reply, { code: 401, msg: 'bad login' }));
    await expect(service.containers.get(REF)).rejects.toMatchObject({
      code: 'UNAUTHENTICATED',
      message: expect.stringContaining('bad login'),
    });
  });

  it.each([
    ['no token header', {}],
    ['an empty token', { svc_token: '' }],
    ['a token that is no header value', { svc_token: 'a b' }],
    ['a token of unreasonable length', { svc_token: 'x'.repeat(10_000) }],
  ])('login: a 200 with %s is INVALID_REPLY', async (_, headers) => {
    const { service } = await withLogin((_seen, reply) => void reply.writeHead(200, headers).end('{}'));
    await expect(service.containers.get(REF)).rejects.toMatchObject({ code: 'INVALID_REPLY' });
  });

  it('login: is tried again after 503 and 429, as late as the service asks', async () => {
    const { service, clock } = await withLogin((seen, reply, number) => {
      if (number === 1) return json(reply, {}, 503);
      if (number === 2) return json(reply, {}, 429, { 'retry-after': '7' });
      if (seen.url.endsWith('/login')) reply.writeHead(200, { svc_token: 't-ok' }).end('{}');
      else json(reply, CONTAINER);
    });
    await service.containers.get(REF);
    expect(clock.waits).toEqual([150, 7000]);
  });

  it('login: a caller that gives up does not take the login from the others', async () => {
    const held: Array<() => void> = [];
    const stop = new AbortController();
    const { service } = await withLogin((seen, reply) => {
      if (!seen.url.endsWith('/login')) return json(reply, CONTAINER);
      held.push(() => reply.writeHead(200, { svc_token: 'late' }).end('{}'));
      stop.abort();
    });
    const [first, second] = [service.containers.get(REF, { signal: stop.signal }), service.containers.get(REF)];
    await expect(first).rejects.toMatchObject({ code: 'ABORTED' });
    expect(held).toHaveLength(1);
    held[0]?.();
    await expect(second).resolves.toMatchObject({ id: 'x1' });
  });

  it('token: a given token that is rejected is UNAUTHENTICATED at once', async () => {
    const { service, server } = await withService((_, reply) => json(reply, { code: 401, message: 'no' }, 401));
    await expect(service.containers.get(REF)).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
    expect(server.seen).toHaveLength(1);
  });

  it('create: a 401 proves that nothing was done, so that the request is sent once more', async () => {
    let logins = 0;
    const { service, server } = await withLogin((seen, reply) => {
      if (seen.url.endsWith('/login')) {
        logins += 1;
        reply.writeHead(200, { svc_token: `tok-${logins}` }).end('{}');
      } else if (seen.headers.authorization === 'Bearer tok-2') json(reply, CONTAINER);
      else json(reply, {}, 401);
    });
    await service.containers.create({ clusterID: 'c1', accountID: 'a1' }, { instanceType: 't' }, { containerID: 'x1' });
    expect(server.matching('/containers?').length).toBe(2);
  });

  it('errors: show neither password, nor its digest, nor the token, also when the service repeats them', async () => {
    const leak = `secret ${MD5_OF_SECRET} token-1234`;
    const { service } = await withLogin((seen, reply) => {
      if (seen.url.endsWith('/login')) reply.writeHead(200, { svc_token: 'token-1234' }).end('{}');
      else json(reply, { code: 400, message: leak, details: [{ reason: leak }] }, 400);
    });
    const failed = await outcome(service.containers.get(REF));
    const shown = `${String(failed)} ${JSON.stringify(failed)} ${(failed as Error).stack}`;
    for (const word of ['secret ', MD5_OF_SECRET, 'token-1234']) expect(shown).not.toContain(word);
  });

  it('errors: of the login show no secret either', async () => {
    const { service } = await withLogin((seen, reply) => json(reply, { code: 403, message: `no ${seen.body}` }, 403));
    const failed = await outcome(service.containers.get(REF));
    expect(failed).toMatchObject({ code: 'PERMISSION_DENIED' });
    expect(`${String(failed)}${JSON.stringify(failed)}`).not.toContain(MD5_OF_SECRET);
  });
});
