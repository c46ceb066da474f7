import assert from 'node:assert/strict';
import { approveRun, attach, pipeline, run } from 'sluice';

const p = pipeline('asked');
p.step('ask', { approval: { message: 'Continue?' } });
const started = await run(p);
const stop = new AbortController();
const left = await attach(started.runId, { signal: stop.signal });
stop.abort();
assert.equal((await left.finished).status, 'running');
const attached = await attach(started.runId, { pipeline: p });
for await (const { type } of attached.events) if (type === 'approvalAsked') break;
await approveRun(started.runId, 'ask');
assert.equal((await attached.finished).status, 'succeeded');
await started.finished;
