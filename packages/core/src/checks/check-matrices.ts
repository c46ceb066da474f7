import { hasExpression } from '../expressions/split-template.ts';
import { own } from '../model/own.ts';
import { MAX_CELLS } from '../plan/expand-matrix.ts';
import type { Check } from './check-context.ts';
import { pathInStep } from './check-context.ts';
import { suggestName } from './nearest-name.ts';

/** A matrix has axes, its lists are not too long together, and `exclude` speaks of axes that exist. */
export const checkMatrices: Check = (context) => {
  for (const checked of context.steps.values()) {
    const { matrix, name } = checked.step;
    if (matrix === undefined) continue;
    const report = (code: string, message: string, keys: (string | number)[], hint: { hint?: string } = {}): void =>
      context.report({ code, message, path: pathInStep(context, checked, ['matrix', ...keys]), ...hint });
    const axes = Object.keys(matrix.axes);
    if (axes.length === 0 && matrix.include.length === 0)
      report('bad-matrix', `the matrix of step \`${name}\` has no axes`, []);
    let cells = 1;
    for (const axis of axes) {
      const values = own(matrix.axes, axis);
      if (Array.isArray(values)) cells *= values.length;
      else if (typeof values === 'string' && !hasExpression(values)) {
        report(
          'wrong-type',
          `the axis \`${axis}\` of step \`${name}\` is "${values}" instead of a list of values`,
          [axis],
          { hint: `write ${axis}: [${values}]` },
        );
      }
    }
    if (cells + matrix.include.length > MAX_CELLS) {
      report('bad-matrix', `the matrix of step \`${name}\` has ${cells} cells; the maximum is ${MAX_CELLS}`, []);
    }
    matrix.exclude.forEach((entry, index) => {
      for (const axis of Object.keys(entry)) {
        if (Object.hasOwn(matrix.axes, axis)) continue;
        report(
          'unknown-axis',
          `\`exclude\` of step \`${name}\` names \`${axis}\`, which is not an axis of its matrix`,
          ['exclude', index, axis],
          suggestName(axis, axes),
        );
      }
    });
  }
};
