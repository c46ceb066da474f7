import { expect, test } from 'vitest';
import { renderJson } from '../../src/json/render-json.ts';

const render = (value: object) => [...renderJson(value)].join('');

test('renderJson has a line for each element of a list of objects, and is one document', () => {
  const cells = Array.from({ length: 20_000 }, (_, index) => ({ key: `c${index}`, results: { list: [1, [2], {}] } }));
  const report = {
    runId: 'r',
    steps: [
      { step: 'a', cells, state: undefined },
      { step: 'b', cells: [] },
    ],
    failures: [],
    x: {},
  };
  const text = render(report);
  expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(report)));
  const lines = text.split('\n');
  expect(lines.filter((line) => line.startsWith('{"key":'))).toHaveLength(20_000);
  expect(Math.max(...lines.map(({ length }) => length))).toBeLessThan(100);
});

test('renderJson is what JSON.stringify gives, for odd values too', () => {
  for (const value of [{}, { a: undefined }, { a: [null, {}], b: [{}, null, 1, 'x'], c: null, '__proto__ ': [[{}]] }]) {
    expect(JSON.parse(render(value))).toEqual(JSON.parse(JSON.stringify(value)));
  }
});
