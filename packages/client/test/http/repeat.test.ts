import { describe, expect, it } from 'vitest';
import { json } from '../rig/scripted-server.ts';
import { CONTAINER, REF, SCOPE, withService } from '../rig/with-service.ts';

const SPEC = { instanceType: 't1' };

describe('repeating calls', () => {
  it.each([500, 502, 503, 504, 408, 429])('get: comes through after two replies of %i', async (status) => {
    const { service, server, clock } = await withService((_, reply, number) =>
      number < 3 ? json(reply, { code: status, message: 'later' }, status) : json(reply, CONTAINER),
    );
    expect(await service.containers.get(REF)).toMatchObject({ id: 'x1' });
    expect(server.seen).toHaveLength(3);
    expect(clock.waits).toEqual([150, 300]);
  });

  it('get: comes through after a reset and after a reply that breaks off', async () => {
    const { service, server } = await withService((_, reply, number) => {
      if (number === 1) reply.destroy();
      else if (number === 2) {
        reply.writeHead(200, { 'content-length': '500' }).write('{"id":');
        setImmediate(() => reply.destroy());
      } else json(reply, CONTAINER);
    });
    expect(await service.containers.get(REF)).toMatchObject({ id: 'x1' });
    expect(server.seen).toHaveLength(3);
  });

  it('get: gives up after four tries, with the last error', async () => {
    const { service, server } = await withService((_, reply) => json(reply, { message: 'down' }, 503));
    await expect(service.containers.get(REF)).rejects.toMatchObject({ code: 'UNAVAILABLE', status: 503 });
    expect(server.seen).toHaveLength(4);
  });

  it.each([400, 401, 403, 404, 409, 410, 422])('get: takes %i for an answer', async (status) => {
    const { service, server } = await withService((_, reply) => json(reply, {}, status));
    await expect(service.containers.get(REF)).rejects.toMatchObject({ status });
    expect(server.seen).toHaveLength(1);
  });

  it('Retry-After: seconds are waited for, and never less than our own wait', async () => {
    const waits = ['2', '0', '0.5', 'soon', ''];
    const { service, clock } = await withService((_, reply, number) =>
      number <= 3 ? json(reply, {}, 429, { 'retry-after': waits[number - 1] ?? '' }) : json(reply, CONTAINER),
    );
    await service.containers.get(REF);
    expect(clock.waits).toEqual([2000, 300, 600]);
  });

  it('Retry-After: an HTTP date is counted from our clock', async () => {
    const { service, clock } = await withService((_, reply, number) =>
      number === 1 ? json(reply, {}, 503, { 'retry-after': 'Sat, 21 Nov 2026 12:00:09 GMT' }) : json(reply, CONTAINER),
    );
    await service.containers.get(REF);
    expect(clock.waits).toEqual([9000]);
  });

  it('Retry-After: a long wait is the caller’s, and no answer is believed beyond an hour', async () => {
    const asked = ['120', '999999999', 'Fri, 31 Dec 2060 00:00:00 GMT', 'Thu, 01 Jan 1970 00:00:00 GMT'];
    const { service, server, clock } = await withService((_, reply, number) =>
      json(reply, {}, 429, { 'retry-after': asked[Math.min(number, 4) - 1] ?? '' }),
    );
    for (const retryAfterMs of [120_000, 3_600_000, 3_600_000]) {
      await expect(service.containers.get(REF)).rejects.toMatchObject({ code: 'RESOURCE_EXHAUSTED', retryAfterMs });
    }
    expect([server.seen.length, clock.waits]).toEqual([3, []]);
    await expect(service.containers.get(REF)).rejects.toMatchObject({ retryAfterMs: 0 });
  });

  it.each([
    ['503', { code: 'UNAVAILABLE' }],
    ['429', { code: 'RESOURCE_EXHAUSTED', retryAfterMs: 1000 }],
    ['reset', { code: 'NO_REPLY' }],
    ['torn', { code: 'NO_REPLY' }],
    ['garbage', { code: 'INVALID_REPLY' }],
    ['another id', { code: 'INVALID_REPLY' }],
  ])('create: is sent once, whatever comes back: %s', async (fault, expected) => {
    const { service, server } = await withService((_, reply) => {
      if (fault === 'reset') reply.destroy();
      else if (fault === 'torn') {
        reply.writeHead(200, { 'content-length': '50' }).write('{');
        setImmediate(() => reply.destroy());
      } else if (fault === 'garbage') reply.end('<html>');
      else if (fault === 'another id') json(reply, { ...CONTAINER, id: 'other' });
      else json(reply, {}, Number(fault), { 'retry-after': '1' });
    });
    await expect(service.containers.create(SCOPE, SPEC, { containerID: 'x1' })).rejects.toMatchObject(expected);
    await expect(service.volumes.create(SCOPE, { volumeID: 'x1' })).rejects.toMatchObject(expected);
    expect(server.seen).toHaveLength(2);
  });

  it('cancel, delete, undelete: come through after a fault', async () => {
    const { service, server } = await withService((_, reply, number) =>
      number % 2 === 1 ? void reply.destroy() : void reply.writeHead(204).end(),
    );
    await service.containers.cancel(REF);
    await service.containers.delete(REF);
    await service.volumes.delete(REF, { force: true });
    await service.volumes.undelete(REF);
    const root = '/api/v1rc1/clusters/c1/accounts/a1';
    expect(server.seen.filter((_, index) => index % 2 === 1).map((it) => `${it.method} ${it.url}`)).toEqual([
      `POST ${root}/containers/x1:cancel`,
      `DELETE ${root}/containers/x1`,
      `DELETE ${root}/volumes/x1?force=true`,
      `POST ${root}/volumes/x1:undelete`,
    ]);
  });

  it('delete: a 404 after a lost reply means that it is done; a first 404 does not', async () => {
    const { service } = await withService((seen, reply, number) =>
      number % 2 === 1 && !seen.url.includes('none') ? void reply.destroy() : json(reply, {}, 404),
    );
    await service.containers.delete(REF);
    await service.volumes.delete(REF);
    await expect(service.containers.delete({ ...REF, id: 'none' })).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  it('delete: a 404 after a 429 is still a 404, since nothing had been done', async () => {
    const { service } = await withService((_, reply, number) => json(reply, {}, number === 1 ? 429 : 404));
    await expect(service.containers.delete(REF)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  it('undelete: a rejection after a lost reply stays a rejection', async () => {
    const body = { code: 400, status: 'FAILED_PRECONDITION', message: 'the volume is Available' };
    const { service } = await withService((_, reply, number) =>
      number === 1 ? void reply.destroy() : json(reply, body, 400),
    );
    await expect(service.volumes.undelete(REF)).rejects.toMatchObject({ code: 'FAILED_PRECONDITION' });
  });
});
