import { expect, test } from 'vitest';
import { pipeline } from '../../src/index.ts';

const create = (name: string) => {
  const p = pipeline(name, { params: { size: 1 }, volumes: { data: { source: './data' } } });
  const a = p.step('a', { command: ['x'], outputs: ['m'], results: { n: 'number' } });
  return { p, a };
};
const PLACE = String.raw`\S*handle-origins\.test\.ts:\d+:\d+`;

test.each<[string, (from: ReturnType<typeof create>, to: ReturnType<typeof create>['p']) => unknown]>([
  ['step a', ({ a }, p) => p.step('b', { command: ['x'], inputs: { m: a.outputs.m } })],
  ['step a', ({ a }, p) => p.step('b', { command: ['x'], inputs: { m: { from: a.outputs.m.at('part').at('deep') } } })],
  ['step a', ({ a }, p) => p.step('b', { command: ['x', a.results.n] })],
  ['step a', ({ a }, p) => p.step('b', { command: ['x'], needs: [[a, 'completed']] })],
  ['step a', ({ a }, p) => p.step('b', { command: ['x'], env: { REASON: a.reason } })],
  ['step a', ({ a }, p) => p.step('b', { matrix: { n: [1] } }, () => ({ command: ['x', a.status] }))],
  [
    'a parameter',
    ({ p: from }, p) => p.step('b', { matrix: { n: from.params.size as never } }, () => ({ command: ['x'] })),
  ],
  ['a volume', ({ p: from }, p) => p.step('b', { command: ['x'], inputs: { d: from.volumes.data.at('part') } })],
  ['step a', ({ a }, p) => p.uses('b', 'b.yaml', { with: { n: a.results.n } })],
  ['step a', ({ a }, p) => p.output('best', a.outputs.m)],
  ['step a', ({ a }, p) => p.results({ n: a.results.n })],
])('a handle of %s of another builder is an error with both places, although the names fit', (what, use) => {
  const { p } = create('y');
  expect(() => use(create('x'), p)).toThrow(
    expect.objectContaining({
      code: 'FOREIGN_HANDLE',
      message: expect.stringMatching(
        new RegExp(`^.+ of pipeline y uses a handle of ${what} of pipeline x: at ${PLACE}, defined at ${PLACE}$`),
      ),
    }),
  );
  expect(p.build().pipeline.steps).toHaveLength(1);
});

test('a source that cannot be read is an error of the argument', () => {
  const { p, a } = create('x');
  const trap = Object.defineProperty({ ...a.outputs.m }, 'x', {
    enumerable: true,
    get() {
      throw new RangeError('a trap');
    },
  });
  expect(() => p.output('best', trap)).toThrow(
    expect.objectContaining({ code: 'INVALID_ARGUMENT', message: expect.stringContaining('output best') }),
  );
});

test('handles of the same builder are accepted, also through a helper and in a builder of the same name', () => {
  const { p, a } = create('x');
  create('x');
  const take = (m: typeof a.outputs.m) => ({ command: ['x'], inputs: { m, part: m.at('part') } });
  p.step('b', take(a.outputs.m));
  p.output('best', a.outputs.m);
  p.results({ n: a.results.n });
  expect(p.build().pipeline.steps).toHaveLength(2);
});
