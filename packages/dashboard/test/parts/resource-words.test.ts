import { expect, test } from 'vitest';
import { hourWords, resourceWords } from '../../src/parts/resource-words.ts';

test.each([
  [{}, ''],
  [{ cpu: 1, memoryGB: 0.5 }, '1 core, 0.5 GB of memory'],
  [{ cpu: 64, memoryGB: 512, gpu: 4, gpuModel: 'A100' }, '64 cores, 512 GB of memory, 4 GPUs (A100)'],
  [{ gpuModel: 'V100' }, '1 GPU (V100)'],
])('resourceWords of %j', (resources, words) => {
  expect(resourceWords(resources)).toBe(words);
});

test.each([
  [0, '0 h'],
  [0.000_278, '0.000278 h'],
  [1_234.567, '1,230 h'],
  [1.5, '1.5 h'],
])('hourWords of %d', (hours, words) => {
  expect(hourWords(hours)).toBe(words);
});
