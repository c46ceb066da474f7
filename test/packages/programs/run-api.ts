import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { execute, pipeline } from 'sluice';
import { createRunApi, type RunApiReply } from 'sluice/run-api';

const p = pipeline('shown');
p.step('a', { command: ['echo', 'hello'] });
const { runId } = await execute(p);

const command = fileURLToPath(new URL('../bin/sluice.js', import.meta.resolve('sluice')));
const args = [command, 'ui', '--listen', '127.0.0.1:0', '--json'];
const ui: ChildProcess = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
// The address is known when it has been printed.
await once(ui.stdout!, 'data');
const { url, token } = JSON.parse(readFileSync('.sluice/host/api.json', 'utf8')) as { url: string; token: string };
const api = createRunApi({ url, token });
const details: RunApiReply<'getRun'> = await api.call('getRun', { path: { runId } });
assert.deepEqual([details.pipeline, details.status], ['shown', 'succeeded']);
const log = await api.call('getLog', { path: { runId }, query: { step: 'a' } });
assert.equal(await new Response(log).text(), 'hello\n');
for await (const event of api.events({ run: [runId] })) {
  assert.equal(event.type, 'snapshot');
  break;
}
ui.kill('SIGTERM');
await once(ui, 'exit');
