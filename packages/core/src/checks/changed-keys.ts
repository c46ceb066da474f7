import { own } from '../model/own.ts';

/** What to say of a key, or of a value in a list of choices. */
interface Change {
  readonly code?: 'reserved-key';
  readonly hint: string;
}

const RESERVED: Change = { code: 'reserved-key', hint: 'remove it' };
/** States of steps in other systems, which are no conditions: a `when` can tell them apart. */
const STATES: Readonly<Record<string, Change>> = {
  cached: { hint: 'a reused step has the status `succeeded`' },
  errored: { hint: 'a step that was lost with its machine has the status `failed`' },
};

/**
 * Names that are reserved, and values with a hint of their own, by the map that they stand in: `*` is any name, and `step`
 * stands for `steps.*`, `finally.*` and `defaults`. For a value it is the key that holds the value.
 */
const CHANGES: Readonly<Record<string, Readonly<Record<string, Change>>>> = {
  '': { budget: RESERVED },
  step: {
    checkpoint: RESERVED,
    metrics: RESERVED,
    search: RESERVED,
    budget: RESERVED,
    logs: RESERVED,
  },
  'step.inputs.*': { select: RESERVED },
  'step.needs.*': STATES,
  'step.retry.on': {
    infrastructure: {
      hint: 'failures of the infrastructure have a limit of their own: set `infrastructure` in `retry`',
    },
  },
};

/** The change of `name` in the map at `place`, as `placeOf` writes it. */
export function findChange(place: string, name: string): Change | undefined {
  return own(own(CHANGES, place), name);
}

/** Keys of a step with maps whose keys are names of the user. */
const BY_NAME: ReadonlySet<string | undefined> = new Set(['inputs', 'needs']);

/** A path of the file as a key of the table; names and indexes do not count. */
export function placeOf(path: readonly (string | number)[]): string {
  const keys = path.filter((key) => typeof key === 'string');
  const [top] = keys;
  const isStep = keys.length > 1 && (top === 'steps' || top === 'finally');
  const inner = top === 'defaults' ? keys.slice(1) : isStep ? keys.slice(2) : undefined;
  if (inner === undefined) return keys.join('.');
  return ['step', ...inner.map((key, index) => (index === 1 && BY_NAME.has(inner[0]) ? '*' : key))].join('.');
}
