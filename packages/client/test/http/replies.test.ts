import { describe, expect, it } from 'vitest';
import { json } from '../rig/scripted-server.ts';
import { CONTAINER, outcome, REF, SCOPE, withService } from '../rig/with-service.ts';

describe('replies', () => {
  it('get: keeps unknown fields, unknown phases and what is missing as it is', async () => {
    const body = {
      ...REF,
      phase: 'Hibernating',
      gpuSeconds: 12,
      ports: { web: { port: 1, https: { host: 'h', x: 1 } } },
    };
    const { service } = await withService((_, reply) => json(reply, body));
    expect(await service.containers.get(REF)).toEqual(body);
  });

  it('get: takes null for absent, at any depth', async () => {
    const body = { ...REF, startTime: null, ports: { web: { port: null, https: null } }, envs: null, runTime: null };
    const { service } = await withService((_, reply) => json(reply, body));
    expect(await service.containers.get(REF)).toEqual({ ...REF, ports: { web: {} } });
  });

  it.each([undefined, 'text/plain', 'text/html; charset=latin1', 'application/octet-stream'])(
    'get: reads JSON under the content type %s',
    async (type) => {
      const { service } = await withService((_, reply) => {
        reply.writeHead(200, type === undefined ? {} : { 'content-type': type }).end(JSON.stringify(CONTAINER));
      });
      expect(await service.containers.get(REF)).toMatchObject({ id: 'x1' });
    },
  );

  it.each([
    ['nothing', ''],
    ['a page', '<html><title>Welcome</title></html>'],
    ['half of it', '{"id":"x1","clusterID":'],
    ['an array', '[]'],
    ['null', 'null'],
    ['a number', '42'],
    ['an id that is a number', JSON.stringify({ ...CONTAINER, id: 7 })],
    ['labels that are an array', JSON.stringify({ ...CONTAINER, labels: ['a'] })],
    ['another container', JSON.stringify({ ...CONTAINER, id: 'x2' })],
    ['endless nesting', `${'['.repeat(200_000)}`],
    ['endless nesting with nulls', `{"id":null,"a":${'['.repeat(5000)}${']'.repeat(5000)}}`],
  ])('get: a 200 with %s is INVALID_REPLY', async (_, body) => {
    const { service, server } = await withService((_seen, reply) => void reply.end(body));
    await expect(service.containers.get(REF)).rejects.toMatchObject({ code: 'INVALID_REPLY', name: 'ServiceError' });
    expect(server.seen).toHaveLength(1);
  });

  it.each([
    [{ code: 404, message: 'no such container' }, 'NOT_FOUND'],
    [{ code: '403', message: 'no' }, 'PERMISSION_DENIED'],
    [{ code: 4000, message: 'busy' }, 'INVALID_REPLY'],
    [{ code: 400, status: 'FAILED_PRECONDITION', message: 'ended' }, 'FAILED_PRECONDITION'],
  ])('get: a 200 with %j is the error that it names', async (body, code) => {
    const { service } = await withService((_, reply) => json(reply, body));
    await expect(service.containers.get(REF)).rejects.toMatchObject({
      code,
      message: expect.stringContaining(body.message),
    });
  });

  it('get: a code of 0 beside a container is no error', async () => {
    const { service } = await withService((_, reply) => json(reply, { ...CONTAINER, code: 0 }));
    expect(await service.containers.get(REF)).toMatchObject({ id: 'x1' });
  });

  it('get: a reply that is larger than any is INVALID_REPLY, and is not read to its end', async () => {
    let sent = 0;
    const { service } = await withService((_, reply) => {
      reply.writeHead(200);
      const chunk = Buffer.alloc(1 << 20, ' ');
      const more = () => {
        while (!reply.destroyed && sent < 512 << 20) {
          sent += chunk.length;
          if (!reply.write(chunk)) return void reply.once('drain', more);
        }
        reply.end();
      };
      more();
    });
    await expect(service.containers.get(REF)).rejects.toMatchObject({ code: 'INVALID_REPLY' });
    expect(sent).toBeLessThan(64 << 20);
  });

  it('get: a redirect is not followed', async () => {
    const { service, server } = await withService((_, reply) => {
      reply.writeHead(302, { location: 'http://127.0.0.1:1/elsewhere' }).end();
    });
    await expect(service.containers.get(REF)).rejects.toMatchObject({ code: 'INVALID_REPLY', status: 302 });
    expect(server.seen).toHaveLength(1);
  });

  it.each([
    [400, 'INVALID_ARGUMENT'],
    [401, 'UNAUTHENTICATED'],
    [402, 'INVALID_ARGUMENT'],
    [403, 'PERMISSION_DENIED'],
    [404, 'NOT_FOUND'],
    [405, 'INVALID_ARGUMENT'],
    [408, 'UNAVAILABLE'],
    [409, 'ALREADY_EXISTS'],
    [413, 'INVALID_ARGUMENT'],
    [429, 'RESOURCE_EXHAUSTED'],
    [500, 'UNAVAILABLE'],
    [503, 'UNAVAILABLE'],
    [599, 'UNAVAILABLE'],
  ])('create: %i is %s', async (status, code) => {
    const { service } = await withService((_, reply) => json(reply, { code: status, message: 'why' }, status));
    const created = service.containers.create(SCOPE, { instanceType: 't' });
    await expect(created).rejects.toMatchObject({ code, status, message: expect.stringContaining('why') });
  });

  it.each([
    ['flat', '{"code":400,"message":"wrong port","details":[{"reason":"BAD_PORT"}]}', 'wrong port', 'BAD_PORT'],
    ['nested', '{"error":{"code":400,"message":"wrong port","details":[{"reason":"R"}]}}', 'wrong port', 'R'],
    ['an error string', '{"error":"wrong port"}', 'wrong port', undefined],
    ['msg', '{"msg":"wrong port"}', 'wrong port', undefined],
    ['problem+json', '{"title":"Bad Request","detail":"wrong port"}', 'wrong port', undefined],
    ['a JSON string', '"wrong port"', 'wrong port', undefined],
    ['plain text', 'wrong port\n', 'wrong port', undefined],
    ['a page', '<!doctype html><html><head><title>wrong\nport</title>', 'wrong port', undefined],
    ['another page', '<p>hidden</p>', 'replied 400', undefined],
    ['an array', '[1]', 'replied 400', undefined],
    ['nothing', '', 'replied 400', undefined],
  ])('errors: the body is read where it is %s', async (_, body, words, reason) => {
    const { service } = await withService((_seen, reply) => void reply.writeHead(400).end(body));
    const failed = await outcome(service.containers.get(REF));
    expect(failed).toMatchObject({ code: 'INVALID_ARGUMENT', reason });
    expect((failed as Error).message).toContain(words);
    expect((failed as Error).message).not.toContain('hidden');
  });

  it.each([
    ['of our service', '{"code":404,"status":"NOT_FOUND","message":"no such container","details":[]}', false],
    ['with a code of another kind', '{"code":"NOT_FOUND","message":"no such container"}', false],
    ['nested', '{"error":{"code":5,"message":"no such container"}}', false],
    ['a page of a gateway', '<html><head><title>404 Not Found</title></head><body>nginx</body></html>', true],
    ['plain text', 'default backend - 404', true],
    ['JSON of a gateway', '{"message":"no Route matched with those values"}', true],
    ['nothing', '', true],
  ])('errors: a body that is %s may or may not be of the service itself', async (_, body, isForeign) => {
    const { service } = await withService((_seen, reply) => void reply.writeHead(404).end(body));
    await expect(service.containers.get(REF)).rejects.toMatchObject({ code: 'NOT_FOUND', isForeign });
  });

  it('errors: a 400 that says that the container exists is ALREADY_EXISTS', async () => {
    const body = { code: 400, status: 'ALREADY_EXISTS', message: 'it exists' };
    const { service } = await withService((_, reply) => json(reply, body, 400));
    await expect(service.containers.create(SCOPE, { instanceType: 't' })).rejects.toMatchObject({
      code: 'ALREADY_EXISTS',
    });
  });

  it('errors: a message is one printable line of bounded length', async () => {
    const message = `a\u0000b\r\nSet-Cookie: x\u001b[31m${'y'.repeat(100_000)}`;
    const { service } = await withService((_, reply) => json(reply, { code: 400, message }, 400));
    const failed = (await outcome(service.containers.get(REF))) as Error;
    expect(failed.message).not.toMatch(/\p{Cc}/u);
    expect(failed.message.length).toBeLessThan(700);
  });

  it('errors: a body that is endless or breaks off only takes the words away', async () => {
    const { service } = await withService((seen, reply) => {
      reply.writeHead(404);
      if (seen.url.includes('torn')) {
        reply.write('{"message":');
        setImmediate(() => reply.destroy());
        return;
      }
      const more = () => {
        while (!reply.destroyed) if (!reply.write('x'.repeat(65_536))) return void reply.once('drain', more);
      };
      more();
    });
    await expect(service.containers.get(REF)).rejects.toMatchObject({ code: 'NOT_FOUND', status: 404 });
    await expect(service.containers.get({ ...REF, id: 'torn' })).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  it('paths: IDs are encoded, and what would change the path is rejected unsent', async () => {
    const { service, server } = await withService((_, reply) => json(reply, { ...CONTAINER, id: 'a/b?c#d:cancel' }));
    await service.containers.get({ ...REF, id: 'a/b?c#d:cancel' });
    expect(server.seen[0]?.url).toBe('/api/v1rc1/clusters/c1/accounts/a1/containers/a%2Fb%3Fc%23d%3Acancel');
    for (const id of ['', '.', '..']) {
      await expect(service.containers.get({ ...REF, id })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    }
    expect(server.seen).toHaveLength(1);
  });
});
