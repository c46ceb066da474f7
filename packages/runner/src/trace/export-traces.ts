import path from 'node:path';
import type { Plan } from '@sluice/core';
import { type Clock, type Disk, followJournal, sleep } from '@sluice/home';
import type { RunModel } from '@sluice/run';
import { createSpanCollector, type SpanCollector } from './collect-spans.ts';
import { encodeSpans } from './encode-spans.ts';
import type { Span } from './span.ts';
import type { TraceSink } from './trace-sink.ts';

/** The run whose spans are sent. */
export interface TraceExportOptions {
  readonly runId: string;
  readonly directory: string;
  readonly plan: Plan;
  readonly disk: Disk;
  readonly clock: Clock;
  readonly sink: TraceSink;
  /** Receives at most one message about a collector that does not accept the spans. */
  readonly warn: (message: string) => void;
}

/** Sends the spans of a run while this process executes it. */
export interface TraceExport {
  /** Sends from time to time what has ended. */
  start(): void;
  /** Sends what is left; resolves when all spans are sent, or if the collector does not accept them. */
  finish(): Promise<void>;
  /** The process that resumes the run sends what is left. */
  stop(): void;
}

const INTERVAL_MS = 5_000;
const TRIES = 3;
const PAUSE_MS = 1_000;
const MAX_SPANS = 200;

/** How far the spans have been sent: up to a record of the journal, and by which of its openings that was written. */
interface TraceMark {
  readonly position: number;
  readonly epoch: number;
}

interface State {
  readonly options: TraceExportOptions;
  readonly journal: ReturnType<typeof followJournal>;
  collected: { readonly model: RunModel; readonly collector: SpanCollector; readonly sent: number } | undefined;
  /** Collected and not sent. */
  pending: Span[];
  /** The last recorded position. */
  marked: number;
  hasWarned: boolean;
  isStopped: boolean;
}

/**
 * Reads the run's journal, and sends every part that has ended at least once: what was not accepted, or could not be recorded
 * as sent, is sent again under the same ID.
 */
export function openTraceExport(options: TraceExportOptions): TraceExport {
  const { clock, disk, directory, plan } = options;
  const journal = followJournal(disk, directory, plan);
  const state: State = {
    ...{ options, journal, collected: undefined, pending: [], marked: 0 },
    ...{ hasWarned: false, isStopped: false },
  };
  let current: Promise<boolean> | undefined;
  let cancel = () => {};

  /** False: the collector cannot be reached now. */
  function flush(): Promise<boolean> {
    current ??= sendNew(state)
      .catch((error: unknown) => {
        // For example a disk that cannot be read. The run continues without its trace.
        warnOnce(state, (error as Error).message);
        return false;
      })
      .finally(() => {
        current = undefined;
      });
    return current;
  }

  function start(): void {
    cancel = clock.setTimer(clock.now() + INTERVAL_MS, () => {
      void flush().then(() => {
        if (!state.isStopped) start();
      });
    });
  }

  return {
    start,
    async finish() {
      cancel();
      await current;
      for (let tries = 1; !(await flush()) && tries < TRIES; tries++) await sleep(clock, PAUSE_MS);
    },
    stop() {
      state.isStopped = true;
      cancel();
    },
  };
}

async function sendNew(state: State): Promise<boolean> {
  const { journal, options } = state;
  const read = await journal.read();
  // The run itself reports a damaged journal.
  if (!read.ok) return true;
  const { position, epochAt } = journal.model;
  const { collector, sent } = await openCollector(state);
  for (;;) {
    if (state.pending.length === 0) state.pending = collector.collect(sent, MAX_SPANS);
    if (state.pending.length === 0) break;
    const reply = await options.sink.send(encodeSpans(state.pending));
    if (state.isStopped) return true;
    warnOnce(state, reply.ok ? reply.value : reply.error.message);
    if (!reply.ok && reply.error.isTemporary) return false;
    state.pending = [];
  }
  if (position !== state.marked) await writeMark(options, { position, epoch: epochAt(position) });
  state.marked = position;
  return true;
}

/** A newer runner may have voided what was read before, so that the journal has another model. */
async function openCollector(state: State): Promise<NonNullable<State['collected']>> {
  const { options, journal } = state;
  const { model } = journal;
  if (state.collected?.model === model) return state.collected;
  const { position, epoch } = await readMark(options);
  const sent = position > 0 && model.epochAt(position) === epoch ? position : 0;
  state.collected = { model, collector: createSpanCollector(options.runId, model), sent };
  state.pending = [];
  return state.collected;
}

function warnOnce(state: State, problem: string | undefined): void {
  if (problem === undefined || state.hasWarned) return;
  state.hasWarned = true;
  state.options.warn(`could not send all traces: ${problem}`);
}

function markPath(directory: string): string {
  return path.join(directory, 'traces.json');
}

/** If it cannot be read, everything is sent again. */
async function readMark({ disk, directory }: TraceExportOptions): Promise<TraceMark> {
  try {
    const bytes = await disk.read(markPath(directory));
    const { position, epoch } = JSON.parse(Buffer.from(bytes ?? []).toString()) as TraceMark;
    return { position: Number(position), epoch: Number(epoch) };
  } catch {
    return { position: 0, epoch: 0 };
  }
}

/** If it cannot be written, the same spans are sent again after the next start. */
async function writeMark({ disk, directory }: TraceExportOptions, mark: TraceMark): Promise<void> {
  await disk.replace(markPath(directory), Buffer.from(JSON.stringify(mark))).catch(() => {});
}
