import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { execute, type PulledOutput, pipeline, pullOutput } from 'sluice';

const p = pipeline('made');
const make = p.step('make', { script: 'echo hello > /out/text/line; echo 1 > /out/text/other', outputs: ['text'] });
p.output('text', make.outputs.text);
const { runId } = await execute(p);
const pulled: PulledOutput = await pullOutput(runId, 'text', { to: 'copy' });
assert.deepEqual(pulled, { output: 'text', to: 'copy', files: 2, bytes: 8, warnings: [] });
assert.equal(readFileSync('copy/line', 'utf8'), 'hello\n');
