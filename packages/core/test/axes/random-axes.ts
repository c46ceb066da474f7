import fc from 'fast-check';
import type { Json } from '../../src/index.ts';
import type { AxesDocument, AxisDocument, InputDocument, StepDocument } from './naive-axes.ts';

/** Takes the next number of a tape, below the limit; 0 at its end. */
type Pick = (limit: number) => number;

/** Random axes, and steps that read each other. Shrinks to fewer and first choices. */
export const randomAxes: fc.Arbitrary<AxesDocument> = fc
  .array(fc.nat(2 ** 20), { minLength: 150, maxLength: 150 })
  .map((tape) => {
    let at = 0;
    return createDocument((limit) => (limit <= 1 ? 0 : (tape[at++] ?? 0) % limit));
  });

const FIELDS = ['f0', 'f1'] as const;
const VALUES = ['', 'p', 'q', 'r', 's'];

interface Draft {
  readonly name: string;
  readonly document: AxisDocument;
  readonly keys: readonly string[];
}

function createDocument(pick: Pick): AxesDocument {
  const drafts: Draft[] = [];
  for (let left = 1 + pick(5); left > 0; left--) drafts.push(createAxis(pick, drafts));
  const steps: Record<string, StepDocument> = {};
  for (let count = 3 + pick(2); count > 0; count--) {
    const names = Object.keys(steps);
    const earlier = names.length > 0 && pick(3) === 1 ? steps[names[pick(names.length)]!]!.each : undefined;
    const each = earlier ?? chooseSome(pick, drafts, 3).map(({ name }) => name);
    const inputs: Record<string, InputDocument> = {};
    for (let left = names.length === 0 ? 0 : pick(4); left > 0; left--) {
      inputs[`i${left}`] = createInput(pick, { names, each, drafts });
    }
    steps[`s${names.length}`] = { ...(each.length > 0 && { each }), inputs };
  }
  // The order of the declarations means nothing.
  const shuffled = chooseSome(pick, drafts, drafts.length);
  const all = new Map([...shuffled, ...drafts].map(({ name, document }) => [name, document]));
  return { axes: Object.fromEntries(all), steps };
}

/** Axes that an axis implies come before it, except those of distinct values of a field. */
function createAxis(pick: Pick, before: readonly Draft[]): Draft {
  // A record without care has `constructor` by itself.
  const name = before.length === 2 ? 'constructor' : `a${before.length}`;
  const kind = pick(4);
  const listed = before.filter(({ document }) => 'items' in document);
  if (kind === 1 && listed.length > 0) {
    const source = listed[pick(listed.length)]!;
    const field = FIELDS[pick(FIELDS.length)]!;
    const { items } = source.document as Extract<AxisDocument, { items: unknown }>;
    const keys = [
      ...new Set(items.map((item) => item[field]).filter((value) => typeof value === 'string' && value !== '')),
    ];
    return { name, document: { distinct: `${source.name}.${field}` }, keys: keys as string[] };
  }
  // In few pipelines two items have the same key.
  const keys = Array.from({ length: pick(8) === 7 ? 0 : 1 + pick(4) }, (_, index) =>
    pick(60) === 59 ? 'p' : VALUES[index + 1]!,
  );
  if (kind === 2) return { name, document: keys, keys };
  const of = Object.fromEntries(chooseSome(pick, before, 2).map((other) => [other.name, `of_${other.name}`]));
  const items = keys.map((id): Readonly<Record<string, Json>> => {
    const implied = Object.keys(of).map((other) => {
      const known = before.find((draft) => draft.name === other)!.keys;
      return [`of_${other}`, known[pick(known.length)] ?? 'nowhere'] as const;
    });
    const values = FIELDS.flatMap((field) => {
      const value = VALUES[pick(VALUES.length)]!;
      return value === '' && field === 'f1' ? [] : [[field, value] as const];
    });
    return { id, ...Object.fromEntries([...values, ...implied]) };
  });
  return { name, document: { items, key: '${{ item.id }}', of }, keys };
}

function createInput(
  pick: Pick,
  { names, each, drafts }: { names: readonly string[]; each: readonly string[]; drafts: readonly Draft[] },
): InputDocument {
  const sources = chooseSome(pick, names, 2).map((name) => `${name}.out`);
  const from = sources.length > 1 ? sources : (sources[0] ?? `${names.at(-1)}.out`);
  const rules = pick(4);
  const all = rules === 1 || rules === 3 ? chooseSome(pick, drafts, 2).map(({ name }) => name) : [];
  const bound = rules > 1 ? chooseSome(pick, drafts, 2) : [];
  const where = bound
    .filter(({ name }) => !all.includes(name))
    .map((draft) => [draft.name, chooseKeys(pick, { draft, each, drafts })] as const);
  return {
    from,
    ...(all.length > 0 && { all }),
    ...(where.length > 0 && { where: Object.fromEntries(where) }),
  };
}

function chooseKeys(
  pick: Pick,
  { draft, each, drafts }: { draft: Draft; each: readonly string[]; drafts: readonly Draft[] },
): string | readonly string[] {
  const key = () => draft.keys[pick(draft.keys.length)] ?? '';
  // A field has keys of any axis, so that few of these are known.
  const expression = (): string => {
    const axis = each[pick(each.length)];
    if (axis === undefined) return '';
    const { document } = drafts.find(({ name }) => name === axis)!;
    return 'items' in document ? `each.${axis}.${pick(2) === 0 ? 'f0' : 'id'}` : `each.${axis}`;
  };
  const source = expression();
  switch (pick(6)) {
    case 0:
      return pick(30) === 29 ? 'unknown' : key();
    case 1:
      return [key(), key()];
    case 2:
      return '';
    case 3:
      return source === '' ? key() : `\${{ [${source}, ${expression()}] }}`;
    default:
      return source === '' ? key() : `\${{ ${source} }}`;
  }
}

/** Up to `most` of them, in random order. */
function chooseSome<T>(pick: Pick, from: readonly T[], most: number): readonly T[] {
  const left = [...from];
  return Array.from({ length: pick(Math.min(most, from.length) + 1) }, () => left.splice(pick(left.length), 1)[0]!);
}
