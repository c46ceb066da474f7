import { expect, test } from 'vitest';
import { planOrder } from '../../src/hosted/plan-order.ts';

const FILE = 'jobs/pipeline.yaml';
const order = (more = {}) => ({ file: '/home/someone/jobs/pipeline.yaml', params: {}, ...more });
const texts = {
  [FILE]: 'version: 1\nname: p\nsteps: { sub: { uses: ./part.yaml } }\n',
  'jobs/part.yaml': 'version: 1\nname: part\nsteps: { a: { image: alpine, command: [x] } }\n',
};

test('planOrder reads only the texts of the order', () => {
  const planned = planOrder({ order: order(), pipeline: { file: FILE, texts } });
  expect(planned.ok && planned.value.steps.map(({ step }) => step.name)).toEqual(['sub-a']);
  const { [FILE]: main } = texts;
  const missing = planOrder({ order: order(), pipeline: { file: FILE, texts: { [FILE]: main } } });
  expect(missing).toMatchObject({ ok: false, error: expect.stringContaining('it was not sent with the order') });
  const none = planOrder({ order: order(), pipeline: { file: 'other.yaml', texts } });
  expect(none).toEqual({ ok: false, error: 'the text of other.yaml is missing' });
});

test('planOrder applies the options of the order', () => {
  const planned = planOrder({ order: order({ ignoreImages: true, parallelism: 2 }), pipeline: { file: FILE, texts } });
  expect(planned).toMatchObject({ ok: true, value: { pipeline: { parallelism: 2 } } });
  expect(planned.ok && planned.value.steps[0]?.step.image).toBeUndefined();
  expect(planned.ok && planned.value.pipeline.labels).toEqual({});
  const labels = { team: 'vision' };
  const labeled = planOrder({ order: order({ labels }), pipeline: { file: FILE, texts } });
  expect(labeled).toMatchObject({ ok: true, value: { pipeline: { labels } } });
  const reserved = planOrder({ order: order({ labels: { 'sluice-run': 'x' } }), pipeline: { file: FILE, texts } });
  expect(reserved).toMatchObject({ ok: false, error: expect.stringContaining('is reserved') });
  const bare = { ...texts, 'jobs/part.yaml': 'version: 1\nname: part\nsteps: { a: { image: alpine } }\n' };
  const rejected = planOrder({ order: order({ ignoreImages: true }), pipeline: { file: FILE, texts: bare } });
  expect(rejected).toEqual({ ok: false, error: 'step sub-a has nothing to run without its image' });
});

test('planOrder reads a table that is a default from the texts of the order', () => {
  const main = `version: 1\nname: p\nparams: { s: { type: array, default: { file: s.csv } } }
steps: { a: { foreach: "\${{ params.s }}", image: alpine, command: [x] } }\n`;
  const planned = planOrder({
    order: order(),
    pipeline: { file: FILE, texts: { [FILE]: main, 'jobs/s.csv': 'id\nA\n' } },
  });
  expect(planned).toMatchObject({ ok: true, value: { params: { s: [{ id: 'A' }] } } });
});
