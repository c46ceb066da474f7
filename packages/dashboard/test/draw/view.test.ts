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

test('startView shows the whole, or begins readable where that would be too small', () => {
  const almost = { width: 1_600, height: 300 };
  expect(startView(almost, CANVAS)).toEqual({ ...fitView(almost, CANVAS), y: 32 });
  expect(startView({ width: 1_800, height: 300 }, CANVAS)).toMatchObject({ scale: 0.7, x: 32 });
  const wide = { width: 90_000, height: 300 };
  expect(startView(wide, CANVAS)).toEqual({ ...fitView(wide, CANVAS), y: 32 });
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
    x: -232,
    y: 0,
  });
});
