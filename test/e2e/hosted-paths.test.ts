import { describe, expect, it } from 'vitest';
import { SHARED_ROUTES } from '../../packages/host/src/api/add-run-api.ts';
import { SERVER_ORDER_ROUTES } from '../../packages/host/src/api/order-routes.ts';
import { SAME, sendTarget, VARIANTS } from '../../packages/service/test/api/path-variants.ts';
import { useHostedServer } from './hosted-rig.ts';

const API = '/api/sluice/v1/clusters/main/accounts/physics';
const PAGE = '/ui/main/physics/';
const FULL_PATHS = [...SHARED_ROUTES, ...SERVER_ORDER_ROUTES].flatMap(({ method, path }) =>
  [API, `${PAGE}api/sluice/v1`].map((prefix) => ({ method, path: prefix + path.replace(/\{\w+\}/g, 'one') })),
);

describe('a path in another form, on a server that executes runs', () => {
  const server = useHostedServer();
  const send = (method: string, target: string, headers: Record<string, string> = {}) =>
    sendTarget(server.url, { method, target, headers });
  const variants = Object.entries(VARIANTS);

  /** The replies to a request without a login and to a user without the account, except for pages that all users share. */
  async function rejectionsOf(method: string, target: string, page: string): Promise<number[]> {
    const { nonMember } = server.tokens;
    const credentials = { authorization: `Bearer ${nonMember}`, cookie: `sluice-session=${nonMember}` };
    const replies = await Promise.all(
      [{}, credentials].map((headers) => send(method, target, { ...headers, origin: server.url })),
    );
    return replies.filter(({ text }) => text !== page).map(({ status }) => status);
  }

  it.for(variants)('reaches no handler of runs without authentication: %s', async ([name, variant]) => {
    const page = await send('GET', PAGE);
    for (const { method, path } of FULL_PATHS) {
      for (const status of await rejectionsOf(method, variant(path), page.text)) {
        expect([method, path, status]).toEqual([
          method,
          path,
          expect.toBeOneOf(SAME.has(name) ? [401, 403] : [400, 401, 403, 404]),
        ]);
      }
    }
  });

  it.for(variants.filter(([name]) => SAME.has(name)))('means the same: %s', async ([, variant]) => {
    const { member } = server.tokens;
    const credentials = { authorization: `Bearer ${member}`, cookie: `sluice-session=${member}` };
    for (const path of [`${API}/runs`, `${PAGE}api/sluice/v1/runs`]) {
      const plain = await send('GET', path, credentials);
      expect(plain.status).toBe(200);
      expect(await send('GET', variant(path), credentials)).toEqual(plain);
    }
    for (const path of ['/healthz', '/readyz', '/ui/login.css', '/metrics']) {
      expect([path, (await send('GET', variant(path))).status]).toEqual([path, 200]);
    }
  });

  it.for(variants)('shows no account, and leads to no other host: %s', async ([, variant]) => {
    for (const path of ['/ui', '/ui/', PAGE, PAGE.slice(0, -1)]) {
      const { status, text, location } = await send('GET', variant(path));
      expect(status).toBeOneOf([200, 308, 400, 404]);
      // With two slashes at its beginning, it would name another host.
      expect([path, location]).toEqual([path, status === 308 ? expect.stringMatching(/^\/ui\/(?!\/)/) : undefined]);
      expect(text).not.toContain('member@example.org');
    }
  });
});
