import { expect, test } from 'vitest';
import { describeImage, listImages } from '../../src/report/list-images.ts';
import { createHandPlan, createStep } from '../plans.ts';

test('listImages names each image once, by its digest where one is known, and leaves others as they are written', () => {
  const step = (name: string, image: string) => createStep(name, { image });
  const plan = createHandPlan([
    step('a', 'node:20'),
    createStep('plain'),
    step('b', 'other:1'),
    step('c', 'node:20'),
    step('d', '${{ steps.a.results.image }}'),
  ]);
  const used = listImages({
    plan,
    home: { clusterID: 'c1' },
    images: { c1: { 'node:20': 'sha256:1' }, c2: { 'other:1': 'sha256:2' } },
    run: { id: 'r1', name: 'p', plannedTime: '' },
  });
  expect(used).toEqual([
    { image: 'node:20', digest: 'sha256:1', steps: ['a', 'c'] },
    { image: 'other:1', steps: ['b'] },
    { image: '${{ steps.a.results.image }}', steps: ['d'] },
  ]);
  expect(used.map(describeImage).slice(0, 2)).toEqual([
    'node:20, by its digest sha256:1',
    'other:1, by its name: its digest is not known, so reuse does not notice when the name means another image',
  ]);
});
