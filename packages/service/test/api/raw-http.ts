import { Agent, request } from 'undici';
import { openUserDirectory } from '../../src/accounts/user-directory.ts';
import { openRig, PRINCIPAL, type Rig, type RigOptions, USER } from '../service-rig.ts';

export interface RawReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  /** The body as JSON; throws if it is not JSON. */
  json(): Record<string, unknown>;
}

/** A service on loopback, and requests to it without the project's client. */
export interface RawHttp {
  readonly rig: Rig;
  readonly url: string;
  readonly token: string;
  /** `path` from the origin; the token is sent unless `headers` say otherwise. */
  send(
    method: 'GET' | 'POST' | 'DELETE' | 'PUT',
    path: string,
    options?: { headers?: Record<string, string>; body?: string | Buffer },
  ): Promise<RawReply>;
  close(): Promise<void>;
}

export const API = '/api/v1rc1/clusters/one/accounts/mine';

export async function openRawHttp(options?: RigOptions): Promise<RawHttp> {
  const rig = await openRig(options);
  const users = await openUserDirectory(rig.root, rig.clock);
  await users.add(USER);
  for (const account of PRINCIPAL.accounts) await users.grant(USER.email, account);
  await users.close();
  const { url } = await rig.service.listen({ host: '127.0.0.1', port: 0 });
  // A service with TLS has a certificate created by the test.
  const agent = new Agent({ connect: { rejectUnauthorized: false } });
  const raw = async (
    method: 'GET' | 'POST' | 'DELETE' | 'PUT',
    path: string,
    { headers = {}, body }: { headers?: Record<string, string>; body?: string | Buffer } = {},
  ): Promise<RawReply> => {
    const reply = await request(url + path, { method, headers, body: body ?? null, dispatcher: agent });
    const text = await reply.body.text();
    return { status: reply.statusCode, headers: reply.headers, text, json: () => JSON.parse(text) };
  };
  const login = await raw('POST', '/user/api/login', {
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: loginForm(USER.email, MD5_OF_PASSWORD),
  });
  const token = String(login.headers.svc_token);
  return {
    rig,
    url,
    token,
    send: (method, path, { headers = {}, body } = {}) =>
      raw(method, path, {
        headers: {
          authorization: `Bearer ${token}`,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body === undefined ? {} : { body }),
      }),
    async close() {
      await agent.close();
      await rig.close();
    },
  };
}

/** MD5 of the rig user's password, computed with md5sum. */
export const MD5_OF_PASSWORD = '3075b35c24d4d3200df9816e8733b94f';

export function loginForm(email: string, password: string): string {
  return new URLSearchParams({ token_type: 'TOKEN', third_party: 'SELF', email, password }).toString();
}
