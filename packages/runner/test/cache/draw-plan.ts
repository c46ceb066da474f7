import type { Random } from '../../../run/test/random.ts';

/** What a pipeline file with approvals, services and steps that may be skipped contains, as JSON. */
export function drawBody(random: Random, { cached = 0.3 } = {}): string {
  const steps: Record<string, object> = {};
  const drawn: DrawnStep[] = [];
  // Of its own, so that the seeds of the planted bugs draw the same pipelines.
  const temporary = random.fork('temporary');
  const count = 3 + random.below(6);
  for (let index = 0; index < count; index++) {
    const name = `s${index}`;
    const kind = random.pick(['plain', 'plain', 'plain', 'matrix', 'foreach', 'approval', 'service'] as const);
    const step = drawStep(kind, drawn, { random, cached, temporary });
    steps[name] = step;
    drawn.push({ name, kind, hasWhen: 'when' in step });
  }
  const isMounted = JSON.stringify(steps).includes('volumes.shared');
  return JSON.stringify({
    params: { p: 0, go: random.chance(0.5) },
    ...(isMounted && { volumes: { shared: {} } }),
    steps,
    ...(random.chance(0.2) && { finally: { last: { command: ['last'], cache: random.chance(0.5) } } }),
  });
}

interface DrawnStep {
  readonly name: string;
  readonly kind: 'plain' | 'matrix' | 'foreach' | 'approval' | 'service';
  readonly hasWhen: boolean;
}

function drawStep(
  kind: DrawnStep['kind'],
  before: readonly DrawnStep[],
  { random, cached, temporary }: { readonly random: Random; readonly cached: number; readonly temporary: Random },
): object {
  const needs: Record<string, string> = {};
  for (const { name, kind: of, hasWhen } of before) {
    if (!random.chance(1.2 / before.length)) continue;
    const drawn = random.pick(['succeeded', 'succeeded', 'completed']);
    // Otherwise whatever follows a step that may be skipped would be skipped, too.
    needs[name] = of === 'service' ? 'succeeded' : hasWhen ? 'completed' : drawn;
  }
  const when = random.chance(0.2) ? '${{ params.go }}' : random.chance(0.1) ? readEnd(before, random) : undefined;
  const common = { needs, ...(when !== undefined && { when }) };
  if (kind === 'approval') return { ...common, approval: true };
  const program = { ...common, command: drawCommand(before, random, kind === 'service' ? 0.6 : 0.15) };
  if (kind === 'service') return { ...program, service: true, ports: { http: {} }, ...drawMount(random, 0.25) };
  const isCached = random.chance(cached);
  return {
    ...program,
    inputs: { ...drawInputs(before, random), ...(!isCached && drawMount(random).inputs) },
    outputs: { o: temporary.chance(0.3) ? { path: '/o', temporary: true } : '/o' },
    results: { r: 'array' },
    ...(isCached && { cache: true }),
    ...(kind === 'matrix' && { matrix: { x: [1, 2] } }),
    ...(kind === 'foreach' && { foreach: drawItems(before, random) }),
  };
}

const isPlain = ({ kind, hasWhen }: DrawnStep) => kind === 'plain' && !hasWhen;
const hasOutputs = ({ kind }: DrawnStep) => kind !== 'approval' && kind !== 'service';

function readEnd(before: readonly DrawnStep[], random: Random): string | undefined {
  const ended = before.filter(({ kind }) => kind !== 'service');
  return ended.length === 0 ? undefined : `\${{ steps.${random.pick(ended).name}.status == 'succeeded' }}`;
}

/** A service that reads only a value depends on work that its own fingerprint does not name: it is drawn often. */
function drawCommand(before: readonly DrawnStep[], random: Random, readsValue: number): string[] {
  const services = before.filter(({ kind, hasWhen }) => kind === 'service' && !hasWhen);
  const plain = before.filter(isPlain);
  return [
    'program',
    ...(random.chance(0.2) ? ['${{ params.p }}'] : []),
    ...(services.length > 0 && random.chance(0.3)
      ? [`\${{ steps.${random.pick(services).name}.ports.http.url }}`]
      : []),
    ...(plain.length > 0 && random.chance(readsValue) ? [`\${{ steps.${random.pick(plain).name}.results.r }}`] : []),
  ];
}

function drawInputs(before: readonly DrawnStep[], random: Random): Record<string, unknown> {
  const from = before.filter((one) => hasOutputs(one) && random.chance(0.3));
  return Object.fromEntries(
    from.map(({ name, hasWhen }) => [name, hasWhen ? { from: `${name}.o`, optional: true } : `${name}.o`]),
  );
}

function drawMount(random: Random, chance = 0.1): { inputs?: object } {
  if (!random.chance(chance)) return {};
  return { inputs: { v: { from: 'volumes.shared', ...(random.chance(0.5) && { writable: true }) } } };
}

function drawItems(before: readonly DrawnStep[], random: Random): unknown {
  const plain = before.filter(isPlain);
  if (plain.length > 0 && random.chance(0.5)) return `\${{ steps.${random.pick(plain).name}.results.r }}`;
  return random.pick([[], ['a'], ['a', 'a', 'b']]);
}
