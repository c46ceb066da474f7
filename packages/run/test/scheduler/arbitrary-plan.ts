import type { FailureClass, NeedCondition, Plan } from '@sluice/core';
import fc from 'fast-check';
import { type TestStep, testPlan } from './test-plan.ts';

const CONDITIONS: readonly NeedCondition[] = ['succeeded', 'failed', 'completed', 'skipped', 'running'];
const CLASSES: readonly FailureClass[] = ['failed', 'oom', 'timeout', 'infrastructure'];

const step = fc.record(
  {
    edges: fc.array(
      fc.record({
        back: fc.integer({ min: 1, max: 6 }),
        condition: fc.oneof(
          { weight: 6, arbitrary: fc.constant('succeeded' as const) },
          fc.constantFrom(...CONDITIONS),
        ),
        data: fc.boolean(),
      }),
      { maxLength: 3, size: 'max' },
    ),
    cells: fc.oneof(
      { weight: 6, arbitrary: fc.constant(1) },
      fc.integer({ min: 2, max: 4 }),
      fc.constant('foreach' as const),
    ),
    each: fc.oneof(
      { weight: 3, arbitrary: fc.constant(undefined) },
      fc.constantFrom(['x'], ['y'], ['z'], ['g'], ['x', 'y'], ['y', 'z'], ['z', 'x'], ['x', 'g']),
    ),
    /** An input with two sources, if there are two edges, or an optional one. */
    rules: fc.oneof(
      { weight: 3, arbitrary: fc.constant(undefined) },
      fc.constantFrom('or', 'optional', 'all', 'allListed', 'whereListed'),
    ),
    when: fc.oneof({ weight: 4, arbitrary: fc.constant(false) }, fc.constant(true)),
    kind: fc.oneof(
      { weight: 8, arbitrary: fc.constant('plain' as const) },
      fc.constantFrom('service', 'approval', 'checked'),
    ),
    cache: fc.oneof({ weight: 3, arbitrary: fc.constant(false) }, fc.constant(true)),
    publishes: fc.boolean(),
    pools: fc.record({ p: fc.integer({ min: 0, max: 2 }), q: fc.integer({ min: 0, max: 3 }) }),
    parallelism: fc.option(fc.integer({ min: 1, max: 2 }), { nil: undefined, freq: 2 }),
    priority: fc.integer({ min: -1, max: 1 }),
    limit: fc.integer({ min: 0, max: 2 }),
    infrastructure: fc.integer({ min: 0, max: 2 }),
    on: fc.subarray([...CLASSES]),
    exitCodes: fc.option(fc.constant([1, 2]), { nil: undefined }),
    instant: fc.boolean(),
    rungs: fc.integer({ min: 0, max: 2 }),
    timeoutMs: fc.option(fc.integer({ min: 1, max: 5000 }), { nil: undefined, freq: 2 }),
    queueTimeoutMs: fc.option(fc.integer({ min: 1, max: 5000 }), { nil: undefined, freq: 2 }),
    /** A timeout and a limit of retries that depend on the item, with a priority and a pool, or on results. */
    perCell: fc.constantFrom(undefined, 'item', 'late'),
    deadlineMs: fc.option(fc.integer({ min: 1, max: 9000 }), { nil: undefined, freq: 2 }),
    continueOnError: fc.oneof(fc.boolean(), fc.nat(1), fc.constantFrom('0%', '40%', '50%')),
    final: fc.oneof({ weight: 5, arbitrary: fc.constant(false) }, fc.constant(true)),
  },
  { noNullPrototype: true },
);

type Draft = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** The `parallelism` of an axis. */
const size = fc.option(fc.constantFrom(1, 1, 2), { nil: undefined, freq: 3 });

/** Plans of every feature that concerns scheduling, each step depending on a few before it. */
export const arbitraryPlan: fc.Arbitrary<Plan> = fc
  .record({
    drafts: fc.array(step, { minLength: 1, maxLength: 12, size: 'max' }),
    failFast: fc.boolean(),
    parallelism: fc.option(fc.integer({ min: 1, max: 4 }), { nil: undefined }),
    timeoutMs: fc.option(fc.integer({ min: 1, max: 20_000 }), { nil: undefined, freq: 1 }),
    items: fc.record({ l: size, x: size, y: size, z: size, g: size }),
    lists: fc.option(fc.infiniteStream(fc.constantFrom(undefined, ['l'], ['l', 'y'])), { nil: undefined, freq: 2 }),
  })
  .map(({ drafts, failFast, parallelism, timeoutMs, items, lists }) => {
    const ordered = [...drafts.filter(({ final }) => !final), ...drafts.filter(({ final }) => final)];
    const lister = lists === undefined ? -1 : ordered.findIndex(mayList);
    const drawn = ordered.map((draft, i) => {
      const each = lister >= 0 && i > lister ? lists!.next().value : undefined;
      return each === undefined || (draft.kind !== 'plain' && draft.kind !== 'approval')
        ? draft
        : { ...draft, each, perCell: draft.perCell && ('late' as const) };
    });
    const steps = Object.fromEntries(drawn.map((_, i) => [`s${i}`, testStep(withoutRunning(drawn, i), i)]));
    if (lister >= 0) listItems(steps, `s${lister}`);
    checkWhere(steps, `s${lister}`);
    const implied = { ...IMPLIED, ...(lister >= 0 && { l: axesOf(steps[`s${lister}`]!, IMPLIED) }) };
    const limits = withoutConflicts(items, { implied, steps: Object.values(steps) });
    return testPlan(steps, { failFast, pools: { p: 2, q: 3 }, ...defined({ parallelism, timeoutMs }) }, limits);
  })
  .filter((plan) => everyServiceEnds(plan) && nobodyMountsServices(plan));

/** Only services are waited for until they run; between steps without cells the scheduler can do it with all. */
function withoutRunning(drafts: readonly Draft[], index: number): Draft {
  const draft = drafts[index]!;
  const edges = draft.edges.filter(({ back, condition }) => {
    const source = drafts[index - back];
    const isBetweenCells = draft.each !== undefined && source?.each !== undefined;
    return !isBetweenCells || condition !== 'running' || source.kind === 'service' || source.kind === 'checked';
  });
  return { ...draft, edges };
}

/** Whether the cells of a step can list the items of an axis. */
function mayList({ kind, cells, each }: Draft): boolean {
  return kind === 'plain' && (each !== undefined || cells === 1);
}

/** The step has the result with the items, and all steps over them need its success. */
function listItems(steps: Record<string, TestStep>, lister: string): void {
  steps[lister] = { ...steps[lister], results: { l: { type: 'array', file: 'l' } } };
  for (const [name, { each, after = [], ...step }] of Object.entries(steps)) {
    if (!each?.includes('l')) continue;
    const others = after.filter((text) => !new RegExp(`^${lister}(:|$)`).test(text));
    steps[name] = { ...step, each, after: [...others, lister] };
  }
}

/** What `sluice check` rejects: `where` names an item of a list that the axes of the step do not fix. */
function checkWhere(steps: Record<string, TestStep>, lister: string): void {
  for (const [name, step] of Object.entries(steps)) {
    const { each = [], inputs = {} } = step;
    if (inputs.in?.where === undefined || !('step' in inputs.in.from)) continue;
    const isFixed = each.includes('l') || steps[lister]?.each?.every((axis) => each.includes(axis)) === true;
    if (isFixed && each.length > 0 && steps[inputs.in.from.step]!.each?.includes('l')) continue;
    const { where: _, ...input } = inputs.in;
    steps[name] = { ...step, inputs: { in: input } };
  }
}

/** A step outside `finally` has one axis with a limit at most. */
function withoutConflicts(
  items: Readonly<Record<string, number | undefined>>,
  { implied, steps }: { readonly implied: Implied; readonly steps: readonly TestStep[] },
) {
  const kept: Record<string, number> = {};
  for (const [axis, most] of Object.entries(items)) {
    const conflicts = steps.some((step) => {
      const all = axesOf(step, implied);
      return step.final !== true && all.includes(axis) && all.some((other) => kept[other] !== undefined);
    });
    if (most !== undefined && !conflicts) kept[axis] = most;
  }
  return kept;
}

type Implied = Readonly<Record<string, readonly string[]>>;
const IMPLIED: Implied = { x: ['g'], z: ['x', 'g'] };

function axesOf({ each = [] }: TestStep, implied: Implied): readonly string[] {
  return each.flatMap((one) => [one, ...(implied[one] ?? [])]);
}

/** What a service writes exists only after its end: `sluice check` rejects an input that has rules about it. */
function nobodyMountsServices({ steps }: Plan): boolean {
  return steps.every(({ dependencies }) =>
    dependencies.every(({ on, input }) => input === undefined || steps[on]!.step.service === undefined),
  );
}

/** Plans that `sluice check` rejects (`service-never-ends`) are left out: a step that uses a service must not wait for its end. */
function everyServiceEnds({ steps }: Plan): boolean {
  const uses: readonly NeedCondition[] = ['succeeded', 'running'];
  const started = new Set<number>();
  const ended = new Set<number>();
  const serves = (on: number): boolean => steps[on]!.step.service !== undefined;
  for (let before = -1; before < started.size + ended.size; ) {
    before = started.size + ended.size;
    for (const { index, dependencies } of steps) {
      const given = dependencies.every(({ on, condition }) => {
        return (serves(on) && [...uses, 'skipped'].includes(condition) ? started : ended).has(on);
      });
      if (given) started.add(index);
      const users = steps.filter(({ final, dependencies }) => {
        return (
          final === steps[index]!.final && dependencies.some((to) => to.on === index && uses.includes(to.condition))
        );
      });
      if (started.has(index) && (!serves(index) || users.every((user) => ended.has(user.index)))) ended.add(index);
    }
  }
  return ended.size === steps.length;
}

function testStep(draft: Draft, index: number): TestStep {
  const befores = new Map<number, string>();
  const { each } = draft;
  for (const { back, condition, data } of draft.edges) {
    if (back > index) continue;
    befores.set(index - back, `s${index - back}:${condition}${data && condition === 'succeeded' ? '!' : ''}`);
  }
  const { inputs, after } = withRules([...befores.values()], { rules: draft.rules, index });
  return {
    after,
    inputs,
    ...(each === undefined ? {} : { each }),
    ...(draft.perCell === 'late' ? { perCell: OF_RESULTS } : {}),
    ...(each !== undefined && draft.perCell === 'item' ? { perCell: ofItem(each[0]!) } : {}),
    cells: draft.cells,
    final: draft.final,
    pools: Object.fromEntries(Object.entries(draft.pools).filter(([, amount]) => amount > 0)),
    priority: draft.priority,
    continueOnError: draft.continueOnError,
    outputs: draft.publishes ? { out: { path: '/out', retain: false } } : {},
    retry: {
      limit: draft.limit,
      infrastructure: draft.infrastructure,
      on: draft.on,
      escalate: Array.from({ length: draft.rungs }, (_, i) => `type-${i}`),
      ...(draft.instant ? { backoff: { initialMs: 0, factor: 1, maxMs: 0 } } : {}),
      ...defined({ exitCodes: draft.exitCodes }),
    },
    ...(draft.when ? { when: 'asked of the shell' } : {}),
    ...(draft.kind === 'service' ? { service: {} } : {}),
    ...(draft.kind === 'checked' ? { service: { ready: { command: ['true'] } } } : {}),
    ...(draft.kind === 'approval' ? { approval: draft.instant ? {} : { timeoutMs: 3000 } } : {}),
    ...(draft.cache ? { cache: { ignore: [] } } : {}),
    ...(draft.kind === 'plain' ? { command: ['true'] } : {}),
    ...defined({
      parallelism: draft.parallelism,
      timeoutMs: draft.timeoutMs,
      queueTimeoutMs: draft.queueTimeoutMs,
      // A deadline that is shorter than the timeout is a fault.
      deadlineMs: draft.perCell ? undefined : draft.deadlineMs,
    }),
  };
}

/** The shell says what they are. */
const OF_RESULTS = {
  timeout: '${{ steps.any.results.t }}ms',
  retry: { limit: '${{ steps.any.results.n }}' },
};

/** The items of the test axes are their own numbers. */
function ofItem(axis: string) {
  return {
    timeout: `\${{ string(1000 * (each.${axis} + 1)) }}ms`,
    priority: `\${{ each.${axis} % 2 }}`,
    retry: { limit: `\${{ each.${axis} % 3 }}` },
    pools: { p: `\${{ each.${axis} % 2 + 1 }}` },
  };
}

/** Keys of an item that each list has, of one that some have, and of none; and lists of them. */
const WANTED = [['k0', 'k0'], '', ['k1', 'k0'], 'k1', ['k0', '', 'k2'], 'k1', 'k0'];

/** One input with rules has the first edges, two of them if it has alternatives. */
function withRules(
  after: readonly string[],
  { rules, index }: { readonly rules: Draft['rules']; readonly index: number },
): Required<Pick<TestStep, 'after' | 'inputs'>> {
  const count = rules === 'or' ? 2 : 1;
  if (rules === undefined || after.length < count) return { after, inputs: {} };
  const sources = after.slice(0, count).map((text) => ({ step: text.split(':')[0]!, output: 'out' }));
  const [from, ...or] = sources as [(typeof sources)[0]];
  const given = {
    or: { or },
    optional: { optional: true as const },
    all: { all: ['x'] },
    allListed: { all: ['l'] },
    whereListed: { where: { l: WANTED[index % WANTED.length]! } },
  }[rules];
  return {
    after: [...sources.map(({ step }) => `${step}?in`), ...after.slice(count)],
    inputs: { in: { from, path: '/in/in', ...given } },
  };
}

/** The record without its undefined members, as `exactOptionalPropertyTypes` wants it. */
function defined<T extends object>(record: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };
}
