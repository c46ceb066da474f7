import { describe, expect } from 'vitest';
import { clause } from './clause-test.ts';
import { loginFields, NOBODY, NORTH, OTHER, type Rig, USER } from './conformance-rig.ts';

/** Every endpoint but the login, with names that need not exist. */
const ENDPOINTS: ReadonlyArray<readonly [method: string, path: string]> = [
  ['GET', 'clusters/-/accounts'],
  ['GET', 'clusters/-/instanceTypes'],
  ['POST', `${NORTH}/volumes`],
  ['GET', `${NORTH}/volumes`],
  ['DELETE', `${NORTH}/volumes/v`],
  ['POST', `${NORTH}/volumes/v:undelete`],
  ['POST', `${NORTH}/containers`],
  ['GET', `${NORTH}/containers/c`],
  ['GET', `${NORTH}/containers`],
  ['GET', `${NORTH}/containers/c/logs`],
  ['POST', `${NORTH}/containers/c:cancel`],
  ['DELETE', `${NORTH}/containers/c`],
];

export function describeAuthentication(rig: Rig): void {
  describe('authentication', () => {
    clause(
      ['Authentication > #1', 'Endpoints > #1', 'Errors > #1'],
      'no endpoint answers without a token',
      async () => {
        for (const [method, path] of ENDPOINTS) {
          for (const [token, headers] of [
            [null, {}],
            [null, { authorization: `Basic ${rig().token}` }],
            [null, { authorization: 'Bearer' }],
            ['not-a-token', {}],
            [rig().token.slice(0, -1), {}],
          ] as const) {
            const answer = await rig().call(method, path, { token, headers });
            expect(answer.status, `${method} ${path}`).toBe(401);
            expect(answer.headers['www-authenticate']).toMatch(/^Bearer/);
            expect(answer.json()).toMatchObject({ code: 401, status: 'UNAUTHENTICATED' });
          }
        }
      },
    );

    clause(['Authentication > #1'], 'every endpoint takes the token, whose scheme is of any case', async () => {
      for (const [method, path] of ENDPOINTS) {
        const answer = await rig().call(method, path);
        expect(answer.status, `${method} ${path}`).not.toBe(401);
      }
      const lower = await rig().call('GET', 'clusters/-/accounts', {
        token: null,
        headers: { authorization: `bearer ${rig().token}` },
      });
      expect(lower.status).toBe(200);
    });

    clause(
      [
        'Endpoints > POST {auth_url}/user/api/login',
        'Authentication > #2',
        'Authentication > #3',
        'Authentication > #5',
      ],
      'the login gives the token in its header and the user in its body',
      async () => {
        const answer = await rig().login(loginFields(USER));
        expect(answer.status).toBe(200);
        expect(answer.headers['content-type']).toBe('application/json;charset=UTF-8');
        expect(answer.headers.svc_token).toMatch(/^[\x21-\x7e]+$/);
        const user = answer.json();
        expect(Object.keys(user).sort()).toEqual(
          ['bossuid', 'createDate', 'email', 'idCardNumber', 'mphone', 'name', 'originChannel'].concat([
            'role',
            'sex',
            'ssh',
            'updateDate',
            'userId',
          ]),
        );
        expect(user).toMatchObject({ email: USER.email, name: 'Ada', userId: expect.any(String) });
        expect([typeof user.role, typeof user.sex, typeof user.ssh]).toEqual(['number', 'number', 'boolean']);
        expect([user.bossuid, user.originChannel]).toEqual([null, null]);
        expect(Date.parse(String(user.updateDate))).not.toBeNaN();
        const token = String(answer.headers.svc_token);
        expect((await rig().call('GET', 'clusters/-/accounts', { token })).status).toBe(200);
      },
    );

    clause(
      ['Authentication > token_type', 'Authentication > third_party', 'Authentication > #4'],
      'the login takes only the kinds TOKEN and SELF',
      async () => {
        for (const wrong of [{ token_type: 'COOKIE' }, { third_party: 'ELSEWHERE' }, { token_type: '' }]) {
          const answer = await rig().login({ ...loginFields(USER), ...wrong });
          expect(answer.status, JSON.stringify(wrong)).toBeGreaterThanOrEqual(400);
          expect(answer.status).toBeLessThan(500);
          expect(answer.headers).not.toHaveProperty('svc_token');
        }
      },
    );

    clause(
      ['Authentication > email', 'Authentication > password', 'Authentication > #7'],
      'wrong credentials of any kind get one answer and no token',
      async () => {
        const good = loginFields(USER);
        const answers = [
          await rig().login({ ...good, password: loginFields({ ...USER, password: 'wrong' }).password ?? '' }),
          await rig().login({ ...good, email: 'nobody@example.org' }),
          await rig().login({ ...good, password: USER.password }),
        ];
        for (const answer of answers) {
          expect([answer.status, answer.headers.svc_token]).toEqual([401, undefined]);
          expect(answer.text).toBe(answers[0]?.text);
        }
      },
    );

    clause(['What the service does > #7'], 'an API body that is not JSON is rejected', async () => {
      const form = 'application/x-www-form-urlencoded';
      for (const type of ['text/plain', 'application/xml', 'multipart/form-data; boundary=x', form]) {
        const call = { body: '{"instanceType":"n-small","command":["true"]}', headers: { 'content-type': type } };
        const rejected = await rig().call('POST', `${NORTH}/containers`, call);
        expect([400, 415], type).toContain(rejected.status);
        expect(rejected.json()).toMatchObject({ code: rejected.status });
      }
    });

    clause(['Authentication > #2'], 'a token opens the accounts of its user and no other', async () => {
      const { otherUserToken } = rig();
      expect((await rig().call('GET', `${OTHER}/containers`, { token: otherUserToken })).status).toBe(200);
      for (const path of [NORTH, NOBODY]) {
        expect((await rig().call('GET', `${path}/containers`, { token: otherUserToken })).status, path).toBe(403);
      }
      expect((await rig().call('GET', `${OTHER}/containers`)).status).toBe(403);
    });

    clause(['Versioning > #1'], 'the API answers under /api/v1rc1 only', async () => {
      for (const path of ['/clusters/-/accounts', '/api/clusters/-/accounts', '/api/v1/clusters/-/accounts']) {
        expect((await rig().call('GET', path)).status, path).toBe(404);
      }
      expect((await rig().call('GET', '/api/v1rc1/clusters/-/accounts')).status).toBe(200);
    });
  });
}
