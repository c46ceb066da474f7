import {
  type Cell,
  createFingerprint,
  type Fingerprint,
  fail,
  type Input,
  ok,
  orderDependencies,
  own,
  type ResolvedContainer,
  type Result,
  type RunContext,
  resolveContainer,
  resolveText,
} from '@sluice/core';
import { type ContextSource, createRunContext, firstCluster, stepIndex } from '@sluice/run';
import { digestCell } from './digest-cell.ts';
import { hashText } from './hash-text.ts';
import { createLineage, type Lineage } from './lineage.ts';
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
  /** What a step passes on to the steps after it. */
  lineage(step: number): Lineage;
}

/** Computes identities. What it has computed about a step, it keeps: a step whose dependents can start does not change. */
export function createIdentities(session: ContextSource): Identities {
  const lineage = createLineage(session, fingerprint);
  const context = withoutAddresses(session);
  const describeOrder = createOrderDescriber(session, lineage);

  function digestInput(from: Input['from']): string {
    if ('volume' in from) {
      const place = own(session.facts.volumes, from.volume);
      // The content of a volume that others can write to is unknown: a step that reads one is not looked up.
      return `${place?.digest ?? `volume:${place?.volumeID}:${place?.path}`}/${from.path}`;
    }
    const step = stepIndex(session.plan, from.step)!;
    const isService = session.plan.steps[step]!.step.service !== undefined;
    const digest = isService ? digestCell(session, step, 0) : lineage(step).digest;
    const path = from.path === undefined ? '' : `/${from.path}`;
    return `${digest}/${from.output}${path}`;
  }

  function fingerprint(step: number, index: number): Result<Fingerprint, FingerprintFault> {
    const cells = session.facts.cells[step]!;
    const cell = cells[index]!;
    const container = resolveContainer(session.plan, step, { cell, context });
    if (!container.ok) return fail({ message: container.error, isOfKey: false });
    const key = resolveKey(step, cell, container.value);
    if (key && !key.ok) return fail({ message: key.error, isOfKey: true });
    const { name, cache } = session.plan.steps[step]!.step;
    const inputs = Object.fromEntries(container.value.inputs.map(({ name, from }) => [name, digestInput(from)]));
    const image = digestImage(session, step, container.value.image);
    const replicate = countReplicates(cells)[index]!;
    return ok(
      createFingerprint(container.value, {
        ...(image !== undefined && { image }),
        pipeline: session.plan.pipeline.name,
        step: name,
        inputs,
        after: describeOrder(step),
        matrix: cell.matrix,
        ...(cell.item !== undefined && { item: cell.item }),
        ...(replicate > 0 && { replicate }),
        ...(key && { key: key.value }),
        ignore: cache?.ignore ?? [],
        hash: hashText,
      }),
    );
  }

  function resolveKey(step: number, cell: Cell, { env }: ResolvedContainer): Result<string, string> | undefined {
    const key = session.plan.steps[step]!.step.cache?.key;
    if (key === undefined) return undefined;
    const { run, attempt, steps } = context;
    return resolveText(session.plan, key, { run, attempt, steps, cell, step, env });
  }

  return { fingerprint, lineage };
}

/** More are combined. */
const MAX_NAMED_STEPS = 20;

/** Describes what came before a step and is in none of its inputs and values: the same for all of its cells. */
function createOrderDescriber({ plan }: ContextSource, lineage: Identities['lineage']) {
  const known = new Map<number, Readonly<Record<string, string>>>();
  return (step: number): Readonly<Record<string, string>> => {
    let order = known.get(step);
    if (order === undefined) {
      const before = orderDependencies(plan.steps[step]!, plan);
      const entries = before.map(({ step: { name }, index }) => [name, lineage(index).digest] as const);
      // Each cell records all components.
      const isLong = entries.length > MAX_NAMED_STEPS;
      order = isLong ? { '*': hashText(JSON.stringify(entries)) } : Object.fromEntries(entries);
      known.set(step, order);
    }
    return order;
  };
}

/**
 * The context of a run's expressions, with the same address in every run for each port: a fingerprint contains the identity
 * of the service instead.
 */
function withoutAddresses(session: ContextSource): RunContext {
  const context = createRunContext(session, 1);
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
function digestImage({ facts }: ContextSource, step: number, image: string | undefined): string | undefined {
  const { images, placement, clusterID } = facts.header ?? {};
  if (image === undefined || images === undefined || clusterID === undefined) return undefined;
  return own(own(images, firstCluster({ placement, home: { clusterID } }, step)), image);
}
