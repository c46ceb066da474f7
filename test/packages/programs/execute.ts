import assert from 'node:assert/strict';
import { execute, pipeline } from 'sluice';

const p = pipeline('sum');
const add = p.step('add', { script: 'expr 3 + 4 > /sluice/results/sum', results: { sum: 'integer' } });
const { status, results } = await execute(p.results({ sum: add.results.sum }));
assert.deepEqual([status, results.sum], ['succeeded', 7]);
const failing = pipeline('failing');
failing.step('fail', { command: ['false'] });
assert.equal((await execute(failing)).status, 'failed');
