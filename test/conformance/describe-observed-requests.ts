import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { type Answer, loginFields, type Rig, USER } from './conformance-rig.ts';

const FILE = fileURLToPath(new URL('../../../shared/data/api/observed-client-requests.json', import.meta.url));

interface Recorded {
  readonly request: {
    readonly method: string;
    readonly url: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: string;
  };
}

function recorded(): Recorded[] {
  if (existsSync(FILE)) return JSON.parse(readFileSync(FILE, 'utf8')).recorded;
  if (process.env.CI === 'true') throw new Error(`could not find the recorded requests ${FILE}`);
  return [];
}

/** Requests as other clients of this API really send them; only names, token and password are ours. */
export function describeObservedRequests(rig: Rig): void {
  describe.skipIf(recorded().length === 0)('requests of other clients', () => {
    it('recorded requests: each is served', async () => {
      const answers: string[] = [];
      for (const { request } of recorded()) {
        const answer = await replay(rig, request);
        expect(answer.status, `${request.method} ${request.url}: ${answer.text}`).toBeOneOf([200, 204]);
        answers.push(answer.text);
      }
      expect(answers).toHaveLength(6);
      expect(JSON.parse(answers[4] ?? '')).toMatchObject({ id: 'v1', clusterID: 'north', accountID: 'lab' });
    });

    it('recorded requests: a wrong password and a wrong token get code and message at the top', async () => {
      const fields = { ...loginFields(USER), password: '5ebe2294ecd0e0f08eab7690d2a6ee69' };
      for (const answer of [
        await rig().login(fields),
        await rig().call('GET', 'clusters/-/accounts', { token: 'bad' }),
      ]) {
        expect([answer.status, answer.json()]).toMatchObject([401, { code: 401, message: expect.stringMatching(/./) }]);
      }
    });

    it('login: takes its fields from the query too, behind a double slash and with an empty JSON body', async () => {
      const answer = await rig().call('POST', '//user/api/login', {
        query: loginFields(USER),
        headers: { 'content-type': 'application/json' },
        token: null,
      });
      expect([answer.status, answer.headers.svc_token]).toEqual([200, expect.stringMatching(/./)]);
    });
  });
}

function replay(rig: Rig, request: Recorded['request']): Promise<Answer> {
  const { 'content-length': _, authorization, ...headers } = request.headers;
  const ours = (text: string) =>
    text
      .replaceAll('/N1/', '/north/')
      .replaceAll('/acc1/', '/lab/')
      .replace('email=a%40example.org', `email=${encodeURIComponent(USER.email)}`)
      .replace(/password=[0-9a-f]{32}/, `password=${loginFields(USER).password}`);
  return rig().call(request.method, ours(request.url), {
    headers,
    token: authorization === undefined ? null : rig().token,
    ...(request.body === '' ? {} : { body: ours(request.body) }),
  });
}
