import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fitView, revealBox, startView, visibleBox, zoomAt } from '../../src/draw/view.ts';

const CANVAS = { width: 800, height: 600 };

test('fitView shows the whole drawing in the middle', () => {
  const { left, top, right, bottom } = visibleBox(fitView({ width: 4_000, height: 300 }, CANVAS), CANVAS);
  expect(left).toBeLessThan(0);
  expect(right).toBeGreaterThan(4_000);
  expect(top + bottom).toBeCloseTo(300, 5);
});

test('startView begins readable where the whole would be a little too small', () => {
  expect(startView({ width: 1_300, height: 300 }, CANVAS)).toMatchObject({ scale: 0.7, x: 24 });
  const wide = { width: 90_000, height: 300 };
  expect(startView(wide, CANVAS)).toEqual({ ...fitView(wide, CANVAS), y: 24 });
});

test('zoomAt keeps the point under the pointer', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 800 }),
      fc.integer({ min: 0, max: 600 }),
      fc.double({ min: 0.2, max: 5, noNaN: true }),
      (x, y, factor) => {
        const before = { scale: 0.5, x: 30, y: -80 };
        const after = zoomAt(before, factor, { x, y });
        expect((x - after.x) / after.scale).toBeCloseTo((x - before.x) / before.scale, 3);
        expect((y - after.y) / after.scale).toBeCloseTo((y - before.y) / before.scale, 3);
      },
    ),
  );
});

test('revealBox moves only as much as needed', () => {
  const view = { scale: 1, x: 0, y: 0 };
  expect(revealBox(view, { left: 100, top: 100, right: 200, bottom: 150 }, CANVAS)).toEqual(view);
  expect(revealBox(view, { left: 900, top: 100, right: 1_000, bottom: 150 }, CANVAS)).toEqual({
    scale: 1,
    x: -224,
    y: 0,
  });
});
