import type { ServiceReply } from '@sluice/client';
import { expect, it } from 'vitest';
import { json } from '../rig/scripted-server.ts';
import { CONTAINER, outcome, REF, withLogin } from '../rig/with-service.ts';

it('onReply is told each request with its status, also a repeated one and one without a reply, but no credentials', async () => {
  const replies: ServiceReply[] = [];
  let asked = 0;
  const { service, server } = await withLogin(
    (request, reply) => {
      if (request.url === '/user/api/login') return void reply.writeHead(200, { svc_token: 'tok-1' }).end('{}');
      asked += 1;
      if (asked === 1) return void reply.writeHead(503).end('{}');
      if (asked === 2) return void reply.destroy();
      json(reply, CONTAINER);
    },
    { onReply: (reply) => replies.push(reply) },
  );
  expect(await outcome(service.containers.get(REF))).toMatchObject({ id: 'x1' });
  const what = expect.stringMatching(/^get container x1/);
  const { url: origin } = server;
  const tookMs = expect.any(Number);
  expect(replies).toEqual([
    { origin, what: 'log in', status: 200, tookMs },
    { origin, what, status: 503, tookMs },
    { origin, what, tookMs },
    { origin, what, status: 200, tookMs },
  ]);
  expect(JSON.stringify(replies)).not.toMatch(/secret|tok-1|a@example/);
});
