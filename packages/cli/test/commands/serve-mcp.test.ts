import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runCommandLine } from '../../src/command-line/run-command-line.ts';
import { serveMcp } from '../../src/commands/serve-mcp.ts';
import { createTestContext } from '../recording-terminal.ts';
import { createStreamTransport } from './stream-transport.ts';

const FILE = `version: 1
name: letters
steps:
  make: { script: "echo made" }
  fail: { needs: make, script: "seq 300; echo '\\u001b[31mtrouble'; exit 3", retry: 1 }
`;

const cwd = mkdtempSync(join(tmpdir(), 'sluice-mcp-'));
const runsDirectory = join(cwd, '.sluice/runs');
const createContext = () =>
  createTestContext({ cwd, env: { HOME: cwd, PATH: process.env.PATH, GITHUB_ACTIONS: 'true' } });
const transport = createStreamTransport(createContext());
const client = new Client({ name: 'test', version: '1' });
let served: Promise<number>;
let runId: string;

beforeAll(async () => {
  writeFileSync(join(cwd, 'pipeline.yaml'), FILE);
  expect(await runCommandLine(['run'], createTestContext({ cwd, env: { HOME: cwd, PATH: process.env.PATH } }))).toBe(1);
  runId = readdirSync(runsDirectory)[0]!;
  served = serveMcp({ context: transport.context, options: {}, version: '1.2.3' }, transport.input);
  await client.connect(transport);
});

afterAll(async () => {
  await client.close();
  expect(await served).toBe(0);
  rmSync(cwd, { recursive: true, force: true, maxRetries: 10 });
});

async function call(name: string, input: Record<string, unknown> = {}) {
  const { content, isError } = await client.callTool({ name, arguments: input });
  const [{ text }] = content as [{ text: string }];
  return { text, isError };
}

/** Every file of the runs, with a hash of its content. */
function hashRuns(): readonly string[] {
  const files = readdirSync(runsDirectory, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return files
    .map(({ parentPath, name }) => join(parentPath, name))
    .map((file) => `${file} ${createHash('sha256').update(readFileSync(file)).digest('hex')}`)
    .sort();
}

test('the SDK of the protocol accepts the server and its tools, which are read-only', async () => {
  expect(client.getServerVersion()).toEqual({ name: 'sluice', version: '1.2.3' });
  expect(client.getServerCapabilities()).toEqual({ tools: {} });
  expect(client.getInstructions()).toContain('Nothing can be changed');
  await client.ping();
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toEqual(['runs', 'show', 'why', 'logs', 'report', 'check']);
  for (const { annotations, inputSchema } of tools) {
    expect(annotations?.readOnlyHint).toBe(true);
    expect(inputSchema).toMatchObject({ type: 'object', additionalProperties: false });
  }
  expect(tools.find(({ name }) => name === 'logs')?.inputSchema).toMatchObject({ required: ['step'] });
});

test('the tools print what the commands print, and change no file of a run', async () => {
  const before = hashRuns();
  expect((await call('runs')).text).toContain(`${runId}  letters   failed`);
  const shown = await call('show', { run: runId.slice(0, 4) });
  expect(shown.isError).toBe(false);
  expect(shown.text).toContain('fail attempt 2: exit code 3');
  expect(shown.text).toContain(`letters failed in`);
  expect((await call('why', { step: 'fail' })).text).toContain('exit code 3');
  const report = await call('report');
  expect(JSON.parse(report.text)).toMatchObject({ schema: 1, type: 'report', runId, attempts: [{}, {}, {}] });
  expect((await call('check')).text).toBe('pipeline.yaml is valid: 2 steps\n');
  expect((await call('logs', { step: 'make' })).text).toBe('made\n');
  expect((await call('logs', { step: 'fail', attempt: 1, tail: 2 })).text).toBe('300\ntrouble\n');
  expect(hashRuns()).toEqual(before);
});

test('long outputs have pages', async () => {
  const steps = Array.from({ length: 300 }, (_, i) => `  s${i}: { command: }\n`).join('');
  writeFileSync(join(cwd, 'long.yaml'), `version: 1\nname: long\nsteps:\n${steps}`);
  const { text, isError } = await call('check', { file: 'long.yaml' });
  expect(isError).toBe(true);
  expect(text).not.toContain('::error');
  const pages = await call('check', { file: 'long.yaml', line: 3 });
  expect(pages.text).toMatch(/^\(lines 3 to \d+ of \d+/m);
});

test.each([
  ['show', { run: 'nope' }, 'could not find run nope'],
  ['why', { step: 'nope' }, 'nope'],
  ['logs', { step: 'make', attempt: 9 }, 'attempt 9 has no container'],
  ['logs', {}, 'could not call logs: ✖ Invalid input'],
  ['show', { line: 0 }, 'could not call show: '],
  ['show', { force: true }, 'could not call show: ✖ Unrecognized key: "force"'],
  ['check', { file: '/etc/passwd' }, 'could not check /etc/passwd: it is not a file below '],
  ['check', { file: '../x.yaml' }, 'could not check ../x.yaml: '],
  ['check', { file: 'none.yaml' }, 'could not check none.yaml: ENOENT'],
])('%s %j is answered with the reason', async (name, input, message) => {
  const { text, isError } = await call(name, input);
  expect(isError).toBe(true);
  expect(text).toContain(message);
});

test('the SDK rejects with the error of an unknown tool or method', async () => {
  await expect(call('cancel', { run: runId })).rejects.toThrow('there is no tool cancel');
  await expect(client.listResources()).rejects.toThrow();
});
