import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { chooseTraces } from '../../src/connect/choose-traces.ts';

let server: Server;
let url: string;
let requests: { readonly path: string; readonly headers: IncomingHttpHeaders }[];

beforeAll(async () => {
  server = createServer(({ url: path = '', headers }, response) => {
    requests.push({ path, headers });
    response.end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

beforeEach(() => {
  requests = [];
});

afterAll(() => new Promise((resolve) => server.close(resolve)));

/** The path of the first request to the chosen collector; undefined if there is none. */
async function send(given: Parameters<typeof chooseTraces>[0]): Promise<string | undefined> {
  const chosen = await chooseTraces(given);
  if (!chosen.ok) throw new Error(chosen.error.message);
  await chosen.value.traces?.send('{}');
  return requests[0]?.path;
}

interface Given {
  readonly env?: Readonly<Record<string, string>>;
  readonly otlp?: string;
  readonly profile?: string;
}

const CASES: readonly (readonly [name: string, given: Given, path: string | undefined])[] = [
  ['nothing', {}, undefined],
  ['empty variables', { env: { SLUICE_OTLP: '', OTEL_EXPORTER_OTLP_ENDPOINT: '' } }, undefined],
  ['the variable of OpenTelemetry', { env: { OTEL_EXPORTER_OTLP_ENDPOINT: '/otel' } }, '/otel/v1/traces'],
  ['a profile before it', { env: { OTEL_EXPORTER_OTLP_ENDPOINT: '/otel' }, otlp: '/p' }, '/p/v1/traces'],
  ['the variable before a profile', { env: { SLUICE_OTLP: '/env' }, otlp: '/p' }, '/env/v1/traces'],
  ['a named profile before the variable', { env: { SLUICE_OTLP: '/env' }, otlp: '/p', profile: 'x' }, '/p/v1/traces'],
];

test.each(CASES)('uses %s', async (_, { env = {}, otlp, profile }, path) => {
  const urls = Object.fromEntries(Object.entries(env).map(([name, value]) => [name, value === '' ? '' : url + value]));
  const flags = profile === undefined ? {} : { profile };
  const chosen = await send({ env: urls, flags, profile: otlp === undefined ? {} : { otlp: url + otlp } });
  expect(chosen).toBe(path);
});

test('sends the headers of OpenTelemetry', async () => {
  const env = { SLUICE_OTLP: url, OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Basic%20a%3D%3D, x-tenant = physics,,' };
  await send({ env });
  expect(requests[0]!.headers).toMatchObject({ authorization: 'Basic a==', 'x-tenant': 'physics' });
});

test.each([
  ['localhost:4317', 'the address localhost:4317 does not start with https:// or http://'],
  [
    'https://me:sesame@example.org',
    'the address contains a password; use a header of OTEL_EXPORTER_OTLP_HEADERS instead',
  ],
])('rejects %s', async (address, fault) => {
  const chosen = await chooseTraces({ env: { SLUICE_OTLP: address } });
  expect(chosen).toEqual({ ok: false, error: { exitCode: 2, message: `could not send traces: ${fault}` } });
});
