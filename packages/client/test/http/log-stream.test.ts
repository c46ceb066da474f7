import type { ServerResponse } from 'node:http';
import { until } from '@sluice/client/contract';
import { describe, expect, it } from 'vitest';
import { json } from '../rig/scripted-server.ts';
import { REF, withService } from '../rig/with-service.ts';

const LOG = Array.from({ length: 400 }, (_, i) => `line ${i} of the log\n`).join('');

/** Sends the log's first `length` characters, then cuts the connection. */
function cutAfter(reply: ServerResponse, length: number): void {
  reply.writeHead(200, { 'content-type': 'text/plain' });
  reply.write(LOG.slice(0, length), () => setImmediate(() => reply.destroy()));
}

async function read(logs: AsyncIterable<Uint8Array>): Promise<string> {
  const parts: Uint8Array[] = [];
  for await (const part of logs) parts.push(part);
  return Buffer.concat(parts).toString();
}

describe('log streams', () => {
  it('logs: asks as the protocol says', async () => {
    const { service, server } = await withService((_, reply) => void reply.end(''));
    await read(service.containers.logs(REF));
    await read(service.containers.logs(REF, { tail: 0 }));
    await read(service.containers.logs(REF, { tail: 5, follow: true }));
    const path = '/api/v1rc1/clusters/c1/accounts/a1/containers/x1/logs';
    expect(server.seen.map((it) => it.url)).toEqual([path, `${path}?tail=0`, `${path}?tail=5&follow=true`]);
  });

  it.each([{ follow: true }, { follow: false }])('logs: %j goes on where the connection broke', async (options) => {
    const { service, server } = await withService((seen, reply, number) => {
      if (!seen.url.includes('/logs')) return json(reply, { ...REF, phase: 'Succeeded' });
      if (number === 1) cutAfter(reply, 1000);
      else if (number === 2) cutAfter(reply, 400);
      else if (number === 3) cutAfter(reply, 5000);
      else reply.end(LOG);
    });
    expect(await read(service.containers.logs(REF, options))).toBe(LOG);
    expect(server.matching('/logs')).toHaveLength(4);
  });

  describe('of a log that the service cuts', () => {
    /** The log as it is after a cut at 500 bytes, of which this is the number, and what was written since. */
    const afterCut = (id: number) => `${LOG.slice(0, 500)}\n[sluice] ${id} left out\n${LOG.slice(-3000)}`;

    function send(reply: ServerResponse, log: string, { id, cutAt }: { id?: number; cutAt?: number }): void {
      reply.writeHead(200, {
        'content-type': 'text/plain',
        ...(id !== undefined && { 'sluice-log-cut': `500/${id}` }),
      });
      if (cutAt === undefined) return void reply.end(log);
      reply.write(log.slice(0, cutAt), () => setImmediate(() => reply.destroy()));
    }

    it('logs: goes on at the cut, with the line that says so, although the log has grown beyond what was read', async () => {
      const cuts: unknown[] = [];
      const { service } = await withService((seen, reply, number) => {
        if (!seen.url.includes('/logs')) return json(reply, { ...REF, phase: 'Succeeded' });
        if (number === 1) send(reply, LOG, { cutAt: 1000 });
        else if (number === 2) send(reply, afterCut(1), { id: 1, cutAt: 900 });
        else if (number === 3) send(reply, afterCut(1), { id: 1, cutAt: 2000 });
        else send(reply, afterCut(2), { id: 2 });
      });
      const text = await read(service.containers.logs(REF, { follow: true, onCut: (cut) => void cuts.push(cut) }));
      const expected = [LOG.slice(0, 1000), afterCut(1).slice(500, 2000), afterCut(2).slice(500)];
      expect(text).toBe(expected.join(''));
      expect(cuts).toEqual([undefined, { start: 500, id: '1' }, { start: 500, id: '1' }, { start: 500, id: '2' }]);
    });

    it('logs: skips what was read if the cut is an old one, or nothing says whether there was one', async () => {
      for (const ids of [
        [1, 1],
        [1, undefined],
      ]) {
        const { service } = await withService((seen, reply, number) => {
          if (!seen.url.includes('/logs')) return json(reply, { ...REF, phase: 'Succeeded' });
          const id = ids[number - 1];
          send(reply, afterCut(1), { ...(id !== undefined && { id }), ...(number === 1 && { cutAt: 1000 }) });
        });
        expect(await read(service.containers.logs(REF, { follow: true }))).toBe(afterCut(1));
      }
    });

    it('logs: a header that cannot be read says nothing', async () => {
      for (const value of ['', '500', 'x/1', '-5/1', `${'9'.repeat(16)}/1`, '500/a b']) {
        const { service } = await withService((_, reply, number) => {
          if (number === 1) return cutAfter(reply, 1000);
          reply.writeHead(200, { 'sluice-log-cut': value }).end(LOG);
        });
        expect(await read(service.containers.logs(REF))).toBe(LOG);
      }
    });
  });

  it('logs: a follow that ends before the container does is taken up again', async () => {
    const phases = ['Running', 'Exiting', 'Failed'];
    const ends = [1000, 1000, LOG.length];
    const { service, server } = await withService((seen, reply) => {
      if (seen.url.includes('/logs')) reply.end(LOG.slice(0, ends.shift()));
      else json(reply, { ...REF, phase: phases.shift() });
    });
    expect(await read(service.containers.logs(REF, { follow: true }))).toBe(LOG);
    expect(server.matching('/logs')).toHaveLength(3);
  });

  it('logs: a follow ends with a container that is gone', async () => {
    const { service } = await withService((seen, reply) =>
      seen.url.includes('/logs') ? void reply.end('last words') : json(reply, {}, 404),
    );
    expect(await read(service.containers.logs(REF, { follow: true }))).toBe('last words');
  });

  it('logs: with tail a break after the first bytes is the caller’s, since the start is not known', async () => {
    const { service, server } = await withService((_, reply) => cutAfter(reply, 100));
    const seen = read(service.containers.logs(REF, { tail: 10, follow: true }));
    await expect(seen).rejects.toMatchObject({ code: 'NO_REPLY' });
    expect(server.seen).toHaveLength(1);
  });

  it('logs: is given up when try after try brings nothing new', async () => {
    const { service, server, clock } = await withService((_, reply) => cutAfter(reply, 500));
    const parts: number[] = [];
    const seen = (async () => {
      for await (const part of service.containers.logs(REF, { follow: true })) parts.push(part.length);
    })();
    await expect(seen).rejects.toMatchObject({ code: 'NO_REPLY' });
    expect(parts.reduce((sum, it) => sum + it, 0)).toBe(500);
    expect(server.seen).toHaveLength(9);
    expect(clock.waits).toHaveLength(8);
  });

  it('logs: a log that has become shorter is INVALID_REPLY', async () => {
    const { service } = await withService((_, reply, number) =>
      number === 1 ? cutAfter(reply, 500) : void reply.end(LOG.slice(0, 300)),
    );
    await expect(read(service.containers.logs(REF))).rejects.toMatchObject({ code: 'INVALID_REPLY' });
  });

  it('logs: an encoding that nobody asked for is INVALID_REPLY', async () => {
    const { service } = await withService(
      (_, reply) => void reply.writeHead(200, { 'content-encoding': 'gzip' }).end('x'),
    );
    await expect(read(service.containers.logs(REF))).rejects.toMatchObject({ code: 'INVALID_REPLY' });
  });

  it('logs: a container that is not there is NOT_FOUND', async () => {
    const { service } = await withService((_, reply) => json(reply, { code: 404, message: 'none' }, 404));
    await expect(read(service.containers.logs(REF))).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  it('logs: JSON in a log is a log', async () => {
    const { service } = await withService((_, reply) =>
      json(reply, { code: 500, message: 'printed by the container' }),
    );
    expect(await read(service.containers.logs(REF))).toContain('printed by the container');
  });

  it('logs: a reader that is slow holds the sender back', async () => {
    let sent = 0;
    let held = false;
    const { service } = await withService((_, reply) => {
      reply.writeHead(200);
      const chunk = Buffer.alloc(65_536, 'x');
      const more = () => {
        while (!reply.destroyed && sent < 256 << 20) {
          sent += chunk.length;
          if (!reply.write(chunk)) {
            held = true;
            return void reply.once('drain', more);
          }
        }
      };
      more();
    });
    const logs = service.containers.logs(REF)[Symbol.asyncIterator]();
    await logs.next();
    let before = -1;
    await until('the sender to be held', async () => {
      const still = held && before === sent;
      before = sent;
      return still;
    });
    expect(sent).toBeLessThan(32 << 20);
    await logs.return?.();
  });

  it('logs: a reader that stops closes the connection', async () => {
    let closed = false;
    const { service } = await withService((_, reply) => {
      reply.on('close', () => {
        closed = true;
      });
      reply.writeHead(200).write('first\n');
    });
    for await (const _ of service.containers.logs(REF, { follow: true })) break;
    await until('the close', async () => closed);
  });

  it('logs: an abort while waiting for more is ABORTED', async () => {
    const stop = new AbortController();
    const { service } = await withService((_, reply) => void reply.writeHead(200).write('first\n'));
    const seen = (async () => {
      for await (const _ of service.containers.logs(REF, { follow: true, signal: stop.signal })) stop.abort();
    })();
    await expect(seen).rejects.toMatchObject({ code: 'ABORTED' });
  });
});
