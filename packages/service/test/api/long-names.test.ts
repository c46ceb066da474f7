import { describe, expect, it, onTestFinished } from 'vitest';
import { API, loginForm, MD5_OF_PASSWORD, openRawHttp, type RawHttp } from './raw-http.ts';

/** Longer than any key of the store, and within the limits of an HTTP header. */
const LONG = 'x'.repeat(5000);

/** Requests whose names the service looks up in its store; the first two need no account. */
const REQUESTS: readonly (readonly [
  what: string,
  send: (http: RawHttp) => ReturnType<RawHttp['send']>,
  status: number,
])[] = [
  [
    'the e-mail address of a login',
    (http) =>
      http.send('POST', '/user/api/login', {
        headers: { authorization: '', 'content-type': 'application/x-www-form-urlencoded' },
        body: loginForm(LONG, MD5_OF_PASSWORD),
      }),
    400,
  ],
  [
    'the user name of a WebDAV client',
    (http) => {
      const authorization = `Basic ${Buffer.from(`${LONG}:${'x'.repeat(26)}`).toString('base64')}`;
      return http.send('GET', '/dav/one/mine/none/', { headers: { authorization } });
    },
    401,
  ],
  ['a container', (http) => http.send('GET', `${API}/containers/${LONG}`), 414],
  ['a volume', (http) => http.send('GET', `${API}/volumes/${LONG}`), 404],
  [
    'a page token',
    (http) => {
      const token = Buffer.from(`volumes\none/mine/${LONG}`).toString('base64url');
      return http.send('GET', `${API}/volumes?nextPageToken=${token}`);
    },
    400,
  ],
  [
    'the volume of a mount',
    (http) => {
      const body = { instanceType: 'small', command: ['true'], volumeMounts: { [LONG]: '/data' } };
      return http.send('POST', `${API}/containers`, { body: JSON.stringify(body) });
    },
    400,
  ],
];

describe('a name that is longer than any key of the store', () => {
  it.each(REQUESTS)('%s: is rejected, and the service goes on', async (_, send, status) => {
    const http = await openRawHttp();
    onTestFinished(() => http.close());
    expect((await send(http)).status).toBe(status);
    expect((await http.send('GET', '/readyz')).json()).toMatchObject({ ready: true });
    expect((await http.send('POST', `${API}/volumes`, { body: '{}' })).status).toBe(200);
  });
});
