import {
  type Cell,
  createFingerprint,
  type Fingerprint,
  fail,
  ok,
  orderDependencies,
  own,
  type ResolvedContainer,
  type Result,
  type RunContext,
  resolveContainer,
  resolveText,
} from '@sluice/core';
import { type ContextSource, createRunContext, firstCluster, readInputs, stepIndex } from '@sluice/run';
import { digestInput } from './digest-input.ts';
import { hashText } from './hash-text.ts';
import { createLineage, type LineageOf, placesBefore } from './lineage.ts';
import { countReplicates } from './replicates.ts';

/** An expression that could not be evaluated. */
export interface FingerprintFault {
  readonly message: string;
  /** It is in `cache.key`: the container can be created without it. */
  readonly isOfKey: boolean;
}

/** The identities of a run's cells and steps, as far as they are known at this moment. */
export interface Identities {
  /** The fingerprint of a cell. */
  fingerprint(step: number, cell: number): Result<Fingerprint, FingerprintFault>;
  /** What a step, or a cell of a step with `each`, passes on to the steps after it. */
  readonly lineage: LineageOf;
}

/**
 * Computes identities. What it has computed about a step, it keeps: a step whose dependents can start does not change.
 * `isWhole`: fingerprints with long values, which are only compared with others of this kind.
 */
export function createIdentities(
  session: ContextSource,
  { isWhole = false }: { readonly isWhole?: boolean } = {},
): Identities {
  const lineage = createLineage(session, fingerprint);
  const contextOf = createContexts(session);
  const describeOrder = createOrderDescriber(session, lineage);

  function fingerprint(step: number, index: number): Result<Fingerprint, FingerprintFault> {
    const cells = session.facts.cells[step]!;
    const cell = cells[index]!;
    const context = contextOf(step, index);
    const container = resolveContainer(session.plan, step, { cell, context });
    if (!container.ok) return fail({ message: container.error, isOfKey: false });
    const key = resolveKey(step, { cell, context }, container.value);
    if (key && !key.ok) return fail({ message: key.error, isOfKey: true });
    const { name, cache, tasks } = session.plan.steps[step]!.step;
    const inputs = Object.fromEntries(
      readInputs(session, step, index).map((input) => [input.name, digestInput(session, lineage, input)] as const),
    );
    const image = digestImage(session, { step, cell: index }, container.value.image);
    const replicate = cell.each === undefined ? countReplicates(cells)[index]! : 0;
    return ok(
      createFingerprint(container.value, {
        ...(image !== undefined && { image }),
        pipeline: session.plan.pipeline.name,
        step: name,
        inputs,
        after: describeOrder(step, index),
        matrix: cell.matrix,
        ...(cell.item !== undefined && { item: cell.item }),
        // Its identity is the step and the keys: of the items, only what the program uses is in the fingerprint.
        ...(cell.each !== undefined && { cell: cell.key }),
        ...(replicate > 0 && { replicate }),
        ...(tasks && { tasks }),
        ...(key && { key: key.value }),
        ignore: cache?.ignore ?? [],
        isWhole,
        hash: hashText,
      }),
    );
  }

  function resolveKey(
    step: number,
    { cell, context }: { readonly cell: Cell; readonly context: RunContext },
    { env }: ResolvedContainer,
  ): Result<string, string> | undefined {
    const key = session.plan.steps[step]!.step.cache?.key;
    if (key === undefined) return undefined;
    const { run, attempt, steps } = context;
    return resolveText(session.plan, key, { run, attempt, steps, cell, step, env });
  }

  return { fingerprint, lineage };
}

/** More are combined. */
const MAX_NAMED_STEPS = 20;

/** Describes what came before a cell and is in none of its inputs and values. */
function createOrderDescriber({ plan, facts }: ContextSource, lineage: LineageOf) {
  const known = new Map<number, Readonly<Record<string, string>>>();

  function describe(step: number, cell?: number): Readonly<Record<string, string>> {
    const before = orderDependencies(plan.steps[step]!, plan);
    if (before.length === 0) return {};
    const named = new Set(before.map(({ index }) => index));
    const places = placesBefore({ plan, facts }, step, cell).filter((place) => named.has(place.step));
    const entries = [...named].map((index) => {
      const digests = places.filter((place) => place.step === index).map((place) => lineage(index, place.cell).digest);
      return [plan.steps[index]!.step.name, digests.length === 1 ? digests[0]! : hashText(digests.join())] as const;
    });
    // Each cell records all components.
    const isLong = entries.length > MAX_NAMED_STEPS;
    return isLong ? { '*': hashText(JSON.stringify(entries)) } : Object.fromEntries(entries);
  }

  return (step: number, cell: number): Readonly<Record<string, string>> => {
    if (plan.steps[step]!.step.each !== undefined) return describe(step, cell);
    const order = known.get(step) ?? describe(step);
    known.set(step, order);
    return order;
  };
}

/** Gives the context of a cell: the same for all cells of a step that does not match them one by one. */
function createContexts(session: ContextSource): (step: number, cell: number) => RunContext {
  const common = withoutAddresses(session);
  return (step, cell) =>
    session.plan.steps[step]!.step.each === undefined ? common : withoutAddresses(session, { step, cell });
}

/**
 * The context of a run's expressions, with the same address in every run for each port: a fingerprint contains the identity
 * of the service instead.
 */
function withoutAddresses(session: ContextSource, reader?: { step: number; cell: number }): RunContext {
  const context = createRunContext(session, 1, reader);
  const steps: RunContext['steps'] = (name) => {
    const facts = context.steps(name);
    const step = stepIndex(session.plan, name);
    const names = step === undefined ? [] : Object.keys(session.plan.steps[step]!.step.ports);
    if (facts === undefined || names.length === 0) return facts;
    const ports = Object.fromEntries(
      names.map((port) => [port, { url: `http://${port}.${name}`, host: `${port}.${name}`, port: 0 }]),
    );
    // Its other fields are computed when they are read.
    return Object.create(facts, { ports: { value: ports } }) as typeof facts;
  };
  return {
    get run() {
      return context.run;
    },
    attempt: context.attempt,
    steps,
  };
}

/** The digest of the image when the run began; undefined if only its name is known. */
function digestImage(
  { facts }: ContextSource,
  place: { readonly step: number; readonly cell: number },
  image: string | undefined,
): string | undefined {
  const { images, placement, clusterID } = facts.header ?? {};
  if (image === undefined || images === undefined || clusterID === undefined) return undefined;
  return own(own(images, firstCluster({ placement, home: { clusterID } }, place)), image);
}
