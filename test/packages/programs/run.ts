import assert from 'node:assert/strict';
import { pipeline, type RunnerEvent, run } from 'sluice';

const p = pipeline('hello', { params: { name: 'Ada' } });
const hello = p.step('hello', {
  command: ['sh', '-c', 'echo "hello $0" > /sluice/results/text', p.params.name],
  results: { text: 'string' },
});
const started = await run(p, { params: { name: 'Grace' } });
const types: RunnerEvent['type'][] = [];
for await (const event of started.events) types.push(event.type);
const result = await started.finished;
assert.equal(result.status, 'succeeded');
const text: string = result.of(hello).text;
assert.equal(text, 'hello Grace');
assert.equal(types.at(-1), 'runFinished');
