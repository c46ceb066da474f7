import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { afterEach, expect, test } from 'vitest';
import { COMMAND, createWorkplace, type Workplace } from './workplace-rig.ts';

let workplace: Workplace | undefined;
afterEach(() => workplace?.remove());

test('sluice mcp serves the client of the SDK as an assistant starts it', async () => {
  workplace = createWorkplace('digits');
  const { directory: cwd, home } = workplace;
  const args = [COMMAND, 'mcp', '--home', home];
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(new StdioClientTransport({ command: process.execPath, args, cwd, stderr: 'inherit' }));
  const call = async (name: string) => (await client.callTool({ name })).content;
  expect(await call('runs')).toEqual([{ type: 'text', text: `no runs in ${home}\n` }]);
  expect(await call('check')).toMatchObject([{ text: expect.stringMatching(/^pipeline.yaml is valid: \d+ steps\n$/) }]);
  await client.close();
});
