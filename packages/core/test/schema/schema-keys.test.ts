import { expect, it } from 'vitest';
import { pipelineSchema } from '../../src/schema/pipeline-schema.ts';
import { schemaKeys } from '../../src/schema/schema-keys.ts';

it.each([
  [['concurrency'], ['group', 'limit', 'overlap']],
  [
    ['notify', 0],
    ['on', 'webhook', 'command'],
  ],
  [['notify'], ['on', 'webhook', 'command']],
  [
    ['defaults', 'retry', 'backoff'],
    ['initial', 'factor', 'max'],
  ],
  [
    ['steps', 'fit', 'retry', 'escalate', 1],
    ['cpu', 'memory', 'gpu', 'gpuModel', 'time'],
  ],
  [
    ['steps', 'fit', 'service', 'ready'],
    ['port', 'path', 'timeout', 'command'],
  ],
  [
    ['steps', 'fit', 'inputs', 'data'],
    ['from', 'path', 'writable', 'where', 'all', 'optional'],
  ],
  [['steps', 'fit', 'inputs'], []],
  [['steps', 'fit', 'env', 'A'], []],
  [['steps', 'fit', 'nothing', 'at', 'all'], []],
])('schemaKeys of %j are those of all forms that stand there', (path, keys) => {
  expect(schemaKeys(pipelineSchema, path)).toEqual(keys);
});
