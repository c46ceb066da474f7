import assert from 'node:assert/strict';
import { attach, pipeline, type SubmittedRun, submit } from 'sluice';

const p = pipeline('background');
const make = p.step('make', { script: 'echo 5 > /sluice/results/count', results: { count: 'integer' } });
const declared = p.results({ count: make.results.count });
const submitted: SubmittedRun = await submit(declared);
assert.equal(submitted.executor, 'host');
const { finished } = await attach(submitted.runId, { pipeline: declared });
const { status, results } = await finished;
assert.deepEqual([status, results.count], ['succeeded', 5]);
