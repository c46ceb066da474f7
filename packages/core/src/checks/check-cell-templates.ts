import { cellKeys } from '../axes/cell-keys.ts';
import type { Step } from '../model/pipeline.ts';
import type { Path } from '../parse/source-document.ts';
import { type Checking, checkText, checkWhole } from './check-text.ts';
import type { Scope } from './expression-scope.ts';
import { BEFORE_THE_CELL, BEFORE_THE_RUN, WITH_THE_CLUSTERS } from './too-late.ts';
import { findNumberFault } from './whole-result.ts';

/** What the plan fixes of a cell. */
const OF_CELL = ['params', 'each', 'matrix'];
/** What is known of a cell when it is decided. */
const OF_DECIDED = [...OF_CELL, 'steps', 'item'];

interface StepPlace {
  readonly step: Step;
  readonly at: (...keys: Path) => Path;
  readonly scope: (place: string, roots: readonly string[]) => Scope;
}

/** Checks the values of cells: an expression reads only what is known when its value is needed. */
export function checkCellTemplates(checking: Checking, { step, at, scope }: StepPlace): void {
  for (const { path, name, template, isNumber, mayBeLate } of cellKeys(step.perCell ?? {})) {
    const place = {
      path: at(...path),
      scope: {
        ...scope(`\`${name}\``, mayBeLate ? OF_DECIDED : OF_CELL),
        hints: path[0] === 'placement' ? WITH_THE_CLUSTERS : mayBeLate ? BEFORE_THE_CELL : BEFORE_THE_RUN,
      },
    };
    if (isNumber) checkWhole(checking, template, { ...place, wanted: 'number' });
    else checkText(checking, template, place);
    const fault = isNumber ? findNumberFault(checking.context, step, template) : undefined;
    if (fault === undefined) continue;
    const message = `\`${name}\` must be a number, but ${fault}`;
    checking.context.report({ code: 'wrong-type', message, path: place.path });
  }
}
