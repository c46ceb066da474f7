import { parsePipeline } from '@sluice/core';
import { expect, test } from 'vitest';
import { findPipeHint } from '../../src/report/find-pipe-hint.ts';

function stepOf(step: object) {
  const parsed = parsePipeline({ file: 'p.json', text: JSON.stringify({ version: 1, name: 'p', steps: { s: step } }) });
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.error));
  return parsed.value.pipeline.steps[0]!;
}

test('findPipeHint says how to allow a producer that ends with SIGPIPE, and nothing of other failures', () => {
  const hint = findPipeHint(stepOf({ script: 'yes | head -1' }), 141);
  expect(hint).toContain('`(PROGRAM || test $? = 141) | READER`');
  expect(findPipeHint(stepOf({ command: 'yes | head -1' }), 141)).toBe(hint);
  expect(findPipeHint(stepOf({ script: 'yes | head -1' }), 1)).toBeUndefined();
  expect(findPipeHint(stepOf({ script: 'exit 141' }), 141)).toBeUndefined();
  expect(findPipeHint(stepOf({ script: 'a | b', shell: 'bash -eo pipefail' }), 141)).toBeUndefined();
  expect(findPipeHint(stepOf({ command: ['x', '|'] }), 141)).toBeUndefined();
});
