import { hasExpression } from '../expressions/split-template.ts';
import { own } from '../model/own.ts';
import type { Path } from '../parse/source-document.ts';
import { MAX_CELLS } from '../plan/expand-matrix.ts';
import type { Check } from './check-context.ts';
import { pathInStep } from './check-context.ts';
import type { Fault } from './fault.ts';
import { suggestName } from './nearest-name.ts';

/** A matrix has axes and at most `MAX_CELLS` cells, and `exclude` names only its axes. */
export const checkMatrices: Check = (context) => {
  for (const checked of context.steps.values()) {
    const { matrix, name } = checked.step;
    if (matrix === undefined) continue;
    const report = (fault: Omit<Fault, 'path'>, keys: Path = []): void =>
      context.report({ ...fault, path: pathInStep(context, checked, ['matrix', ...keys]) });
    const axes = Object.keys(matrix.axes);
    if (axes.length === 0 && matrix.include.length === 0)
      report({ code: 'bad-matrix', message: `the matrix of step \`${name}\` has no axes` });
    let cells = 1;
    for (const axis of axes) {
      const values = own(matrix.axes, axis);
      if (Array.isArray(values)) cells *= values.length;
      else if (typeof values === 'string' && !hasExpression(values)) {
        const message = `the axis \`${axis}\` of step \`${name}\` is "${values}" instead of a list of values`;
        report({ code: 'wrong-type', message, hint: `write ${axis}: [${values}]` }, [axis]);
      }
    }
    if (cells + matrix.include.length > MAX_CELLS) {
      const message = `the matrix of step \`${name}\` has ${cells} cells; the maximum is ${MAX_CELLS}`;
      report({ code: 'bad-matrix', message });
    }
    matrix.exclude.forEach((entry, index) => {
      for (const axis of Object.keys(entry)) {
        if (Object.hasOwn(matrix.axes, axis)) continue;
        const message = `\`exclude\` of step \`${name}\` names \`${axis}\`, which is not an axis of its matrix`;
        report({ code: 'unknown-axis', message, ...suggestName(axis, axes) }, ['exclude', index, axis]);
      }
    });
  }
};
