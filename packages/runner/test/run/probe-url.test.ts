import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { probeUrl } from '../../src/run/probe-url.ts';

/** A server that redirects `/` to `/other`; `asked` are the paths of its requests. */
async function serve() {
  const asked: (string | undefined)[] = [];
  const server = createServer(({ url }, reply) => {
    asked.push(url);
    if (url === '/') reply.writeHead(302, { location: '/other' });
    else reply.writeHead(url === '/busy' ? 503 : 200);
    reply.end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

it.each([
  ['/ready', undefined],
  ['/busy', expect.stringContaining('/busy answers with status 503')],
])('takes the status of %s for %s', async (path, reason) => {
  const { url } = await serve();
  expect(await probeUrl(`${url}${path}`)).toEqual(reason);
});

it('takes a redirect for an answer, and does not follow it', async () => {
  const { url, asked } = await serve();
  expect(await probeUrl(`${url}/`)).toBeUndefined();
  expect(asked).toEqual(['/']);
});

it('is not ready while nothing listens', async () => {
  expect(await probeUrl('http://127.0.0.1:1/')).toMatch(/^http:\/\/127\.0\.0\.1:1\/ does not answer: .+/);
});

it('names what is wrong with a host name that does not resolve', async () => {
  expect(await probeUrl('http://no-such-host.invalid/')).toMatch(/does not answer: getaddrinfo (ENOTFOUND|EAI_AGAIN)/);
});
