import type { Comparison } from '../expressions/find-comparisons.ts';
import { RUN_STATUSES, STEP_REASONS, STEP_STATUSES } from '../model/step-status.ts';
import type { NameFault } from './expression-scope.ts';
import { suggestName } from './nearest-name.ts';

/** The fault of a status that is compared with a value that it never has: the condition would never hold. */
export function findComparisonFault({ reference, text }: Comparison): NameFault | undefined {
  const vocabulary = vocabularyOf(reference);
  if (vocabulary === undefined || vocabulary.words.includes(text)) return undefined;
  const hint = FOREIGN_WORDS.get(text);
  const known = vocabulary.words.filter((word) => word !== '');
  return {
    code: 'unknown-status',
    message: `\`${vocabulary.name}\` is never ${JSON.stringify(text)}`,
    ...(vocabulary.words === STEP_STATUSES && hint !== undefined ? { hint } : suggestName(text, known)),
  };
}

/** Words of other systems for the status of a step. */
const FOREIGN_WORDS: ReadonlyMap<string, string> = new Map([
  ['cached', 'a reused step has the status `succeeded`, and `reused` is true'],
  ['success', 'did you mean `succeeded`?'],
  ['errored', "a step that was lost with its machine has the status `failed`, and `reason == 'infrastructure'`"],
  ['failure', 'did you mean `failed`?'],
]);

function vocabularyOf({ root, keys }: Comparison['reference']) {
  if (root === 'run' && keys.length === 1 && keys[0] === 'status')
    return { name: 'run.status', words: RUN_STATUSES as readonly string[] };
  if (root !== 'steps' || keys.length !== 2) return undefined;
  const name = `steps.${keys[0]}.${keys[1]}`;
  if (keys[1] === 'status') return { name, words: STEP_STATUSES as readonly string[] };
  if (keys[1] === 'reason') return { name, words: STEP_REASONS as readonly string[] };
  return undefined;
}
