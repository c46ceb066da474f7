import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Fastify, { type FastifyInstance } from 'fastify';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { addRunApi } from '../../src/api/add-run-api.ts';
import { openRunApi, type RunExecutor } from '../../src/api/run-api.ts';
import { API_PREFIX } from '../../src/index.ts';

const SEND_AND_CLOSE = `
const [, port, path] = process.argv;
const body = JSON.stringify({ file: '/p.yaml' });
const lines = ['POST ' + path + ' HTTP/1.1', 'host: x', 'content-type: application/json', 'content-length: ' + body.length];
const socket = require('node:net').connect(Number(port), '127.0.0.1');
socket.write(lines.join('\\r\\n') + '\\r\\n\\r\\n' + body, () => socket.destroy());
`;

let home: string;
let server: FastifyInstance;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'sluice-abandoned-'));
  server = Fastify();
});

afterEach(async () => {
  await server.close();
  rmSync(home, { recursive: true, force: true });
});

test('a request is not performed if its client gave up while the server was stopped', async () => {
  const started: string[] = [];
  const executor: RunExecutor = {
    resume: async () => ({ ok: true, value: undefined }),
    preview: async () => ({ ok: true, value: { reused: [], run: ['a'] } }),
    createOrder: async () => ({ ok: true, value: { file: '/p.yaml', params: {} } }),
    delete: async () => ({ ok: true, value: true }),
    listPipelines: async () => [],
    async start(_, runId) {
      started.push(runId);
      return { ok: true, value: undefined };
    },
  };
  await addRunApi(server, openRunApi({ home, executor, userName: 'tester' }));
  await server.listen({ host: '127.0.0.1', port: 0 });
  const { port } = server.server.address() as AddressInfo;
  // This process, which is the server, does nothing until the client has ended.
  const client = spawnSync(process.execPath, ['-e', SEND_AND_CLOSE, String(port), `${API_PREFIX}/runs`]);
  expect(client.status).toBe(0);
  const post = () =>
    fetch(`http://127.0.0.1:${port}${API_PREFIX}/runs`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ file: '/p.yaml' }),
    });
  expect((await post()).status).toBe(200);
  expect(started).toHaveLength(1);
});
