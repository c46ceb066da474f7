import { expect, test } from 'vitest';
import { answerRequest } from '../../src/commands/answer-request.ts';
import { createTestContext } from '../recording-terminal.ts';

const answer = (message: unknown) =>
  answerRequest(typeof message === 'string' ? message : JSON.stringify(message), {
    context: createTestContext({ cwd: '/nowhere' }),
    options: {},
    version: '1',
  });
const request = (method: string, params?: object) => answer({ jsonrpc: '2.0', id: 1, method, params });

test.each([
  ['2024-11-05', '2024-11-05'],
  ['2025-11-25', '2025-11-25'],
  ['1999-01-01', '2025-11-25'],
])('answerRequest to a client of version %s speaks %s', async (asked, spoken) => {
  expect(await request('initialize', { protocolVersion: asked })).toMatchObject({
    id: 1,
    result: { protocolVersion: spoken },
  });
});

test.each([
  ['{', null, -32_700],
  ['[]', null, -32_600],
  [{ id: 1, method: 'ping' }, null, -32_600],
  [{ jsonrpc: '2.0', id: 'a', method: 'tasks/list' }, 'a', -32_601],
  [{ jsonrpc: '2.0', id: 1, method: 'initialize' }, 1, -32_602],
  [{ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 7 } }, 1, -32_602],
  [{ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'constructor' } }, 1, -32_602],
])('answerRequest answers %j with an error', async (message, id, code) => {
  expect(await answer(message)).toMatchObject({ jsonrpc: '2.0', id, error: { code } });
});

test('answerRequest answers no notification', async () => {
  expect(await answer({ jsonrpc: '2.0', method: 'notifications/initialized' })).toBeUndefined();
  expect(await answer({ jsonrpc: '2.0', method: 'notifications/unknown' })).toBeUndefined();
});
