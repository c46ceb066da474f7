import assert from 'node:assert/strict';
import { cancelRun, pipeline, readRun, run, suspendRun } from 'sluice';

const p = pipeline('asked');
p.step('ask', { approval: { message: 'Continue?' } });
const first = await run(p);
assert.equal(await suspendRun(first.runId), true);
assert.equal((await first.finished).status, 'suspended');
await cancelRun(first.runId);
assert.equal((await readRun(first.runId)).status, 'canceled');
const second = await run(p);
await cancelRun(second.runId, { by: 'ada' });
assert.equal((await second.finished).status, 'canceled');
