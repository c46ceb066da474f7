import assert from 'node:assert/strict';
import { pipeline, resume, run } from 'sluice';

const p = pipeline('release');
const ask = p.step('ask', { approval: { message: 'Release?' } });
const tag = p.step('tag', { script: 'echo 1.0 > /sluice/results/tag', results: { tag: 'string' }, needs: ask });
const declared = p.results({ tag: tag.results.tag });
const started = await run(declared);
for await (const { type } of started.events) if (type === 'approvalAsked') break;
await started.suspend();
assert.equal((await started.finished).status, 'suspended');
const resumed = await resume(started.runId, { pipeline: declared });
resumed.approve('ask');
const { status, results } = await resumed.finished;
assert.deepEqual([status, results.tag], ['succeeded', '1.0']);
