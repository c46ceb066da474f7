import { afterEach, expect, test } from 'vitest';
import { type OrderPlanner, openOrderPlanner } from '../../src/hosted/open-order-planner.ts';
import type { PlannedOrder } from '../../src/hosted/plan-order.ts';

let planner: OrderPlanner | undefined;
afterEach(() => planner?.close());

const orderOf = (text: string, params = {}): PlannedOrder => ({
  order: { file: '/home/someone/pipeline.yaml', params },
  pipeline: { file: 'pipeline.yaml', texts: { 'pipeline.yaml': text } },
});
const nameOf = (name: string) => orderOf(`version: 1\nname: ${name}\nsteps: { a: { command: 'true' } }\n`);
const LARGE = orderOf(
  `version: 1\nname: large\nsteps: { a: { command: 'true', matrix: { n: ${JSON.stringify(Array.from({ length: 50_000 }, (_, at) => at))} } } }\n`,
);

test('openOrderPlanner plans each order of an account', async () => {
  planner = openOrderPlanner();
  const names = ['a', 'b', 'c'];
  const plans = await Promise.all(names.map((name) => planner!.planOrder(nameOf(name))));
  expect(plans.map((plan) => plan.ok && plan.value.pipeline.name)).toEqual(names);
});

test('openOrderPlanner describes the errors of a text with their lines', async () => {
  planner = openOrderPlanner();
  const planned = await planner.planOrder(orderOf('version: 1\nname: p\nsteps: { a: { comand: x } }\n'));
  expect(planned).toMatchObject({ ok: false, error: expect.stringContaining('pipeline.yaml:3:15') });
  const param = await planner.planOrder({ ...nameOf('p'), order: { file: '/p.yaml', params: { none: '1' } } });
  expect(param).toMatchObject({ ok: false, error: expect.stringContaining('none') });
});

test('openOrderPlanner gives up an order that takes too long', async () => {
  planner = openOrderPlanner({ memoryMb: 512, timeMs: 20 });
  const planned = await planner.planOrder(LARGE);
  expect(planned).toMatchObject({ ok: false, error: expect.stringContaining('takes longer than 0.02 s') });
});

test('openOrderPlanner gives up an order that needs too much memory, and plans the next one', async () => {
  planner = openOrderPlanner({ memoryMb: 24, timeMs: 120_000 });
  const [large, small] = await Promise.all([planner.planOrder(LARGE), planner.planOrder(nameOf('small'))]);
  expect(large).toMatchObject({ ok: false, error: expect.stringContaining('needs more than 24 MB') });
  expect(small).toMatchObject({ ok: true });
});
