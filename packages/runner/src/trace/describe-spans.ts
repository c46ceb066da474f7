import {
  endMessage,
  isFannedOut,
  outlineAttempt,
  type RunModel,
  type Scheduler,
  type StatusReport,
  statusOfCell,
  statusOfStep,
  verdictOf,
} from '@sluice/run';
import type { Span } from './span.ts';
import { spanIdOf, type TracedPart, traceIdOf } from './trace-ids.ts';

/** A run whose parts are described. */
export interface SpanSource {
  readonly runId: string;
  readonly model: Pick<RunModel, 'facts'> & { readonly scheduler: Scheduler };
}

/** Indexes of a cell. */
export interface CellPlace {
  readonly step: number;
  readonly cell: number;
}

/** When a part began and ended. */
export type SpanTimes = Pick<Span, 'startAt' | 'endAt'>;

/** An attempt that has ended; none if it was never requested. */
export function describeAttempt(source: SpanSource, place: CellPlace, number: number): Span[] {
  const { facts } = source.model;
  const known = facts.known[place.step]?.[place.cell]?.attempts.find(({ attempt }) => attempt === number);
  const startAt = known?.askedAt ?? known?.submittedAt;
  if (known === undefined || startAt === undefined) return [];
  const { submittedAt, runningAt, endedAt = startAt, ...outline } = outlineAttempt(known);
  const verdict = verdictOf(known);
  const failed = verdict?.result === 'failed' ? verdict : undefined;
  const { containerId, clusterId, instanceType, status, reason } = outline;
  const cell = nameCell(source, place);
  return [
    createSpan(source, {
      part: { ...cell, attempt: number },
      parent: cell,
      name: `attempt ${number}`,
      // The times of the service are those of another machine.
      ...{ startAt, endAt: Math.max(startAt, endedAt) },
      attributes: { status, reason, attempt: number, containerId, clusterId, instanceType, exitCode: failed?.exitCode },
      events: [
        ...(submittedAt === undefined ? [] : [{ name: 'submitted', at: submittedAt }]),
        ...(runningAt === undefined ? [] : [{ name: 'running', at: runningAt }]),
      ],
      failure: failed?.message,
    }),
  ];
}

/** A cell that has ended. The cell of a plain step is the step. */
export function describeCell(source: SpanSource, place: CellPlace, times: SpanTimes): Span[] {
  const report = statusOfCell(source.model, place.step, place.cell);
  const attempts = source.model.facts.known[place.step]?.[place.cell]?.attempts ?? [];
  if (report.status === 'skipped' || (report.status === 'canceled' && attempts.length === 0)) return [];
  const part = nameCell(source, place);
  const isPlain = !isFannedOut(source.model.facts, place.step);
  const parent = isPlain ? {} : { step: part.step };
  const name = isPlain ? part.step : `${part.step}/${part.cell}`;
  return [createSpan(source, { part, parent, name, ...times, ...describeStatus(report) })];
}

/** A step with cells that have ended. */
export function describeStep(source: SpanSource, step: number, times: SpanTimes): Span {
  const { name } = source.model.facts.plan.steps[step]!.step;
  const report = statusOfStep(source.model, step);
  return createSpan(source, { part: { step: name }, parent: {}, name, ...times, ...describeStatus(report) });
}

/** The run, which has ended. */
export function describeRun(source: SpanSource): Span {
  const { facts } = source.model;
  const { at, status } = facts.finished!;
  const message = endMessage(facts, status);
  return createSpan(source, {
    part: {},
    name: facts.plan.pipeline.name,
    ...{ startAt: facts.startedAt, endAt: Math.max(facts.startedAt, at) },
    attributes: { status, pipeline: facts.plan.pipeline.name },
    failure: status === 'failed' ? (message ?? 'a step failed') : undefined,
  });
}

type Part = Omit<TracedPart, 'runId'>;

interface Described extends SpanTimes, Pick<Span, 'name' | 'attributes' | 'failure'> {
  readonly part: Part;
  /** Absent: it is the root of the trace. */
  readonly parent?: Part;
  readonly events?: Span['events'];
}

function createSpan({ runId }: SpanSource, described: Described): Span {
  const { part, parent, name, startAt, endAt, attributes, events = [], failure } = described;
  const { step, cell } = part;
  const all = Object.entries({ runId, step, cell: cell || undefined, ...attributes });
  return {
    traceId: traceIdOf(runId),
    spanId: spanIdOf({ runId, ...part }),
    ...(parent && { parentSpanId: spanIdOf({ runId, ...parent }) }),
    ...{ name, startAt, endAt, events, failure },
    attributes: {
      ...Object.fromEntries(all.map(([key, value]) => [`sluice.${key}`, value])),
      'error.type': attributes.reason,
    },
  };
}

function describeStatus({ status, reused, reason }: StatusReport): Pick<Described, 'attributes' | 'failure'> {
  return { attributes: { status, reason, reused }, failure: status === 'failed' ? reason : undefined };
}

function nameCell({ model }: SpanSource, { step, cell }: CellPlace): { readonly step: string; readonly cell: string } {
  const { facts } = model;
  return { step: facts.plan.steps[step]!.step.name, cell: facts.cells[step]?.[cell]?.key ?? '' };
}
