import { decodeLine } from '@sluice/home';
import type { JournalRecord } from '@sluice/run';
import type { MemoryDisk } from '../../../home/test/memory-disk.ts';
import type { createCellNumbers } from './listed-parts.ts';

/** What a run's journal says durably at this moment. */
export interface JournalEvidence {
  readonly records: readonly JournalRecord[];
  readonly intents: ReadonlySet<string>;
  /** The run was adopted: its journal does not know what was started. */
  readonly isAdopted: boolean;
  /** Container ID by `step/cell/attempt`. */
  readonly ids: ReadonlyMap<string, string>;
  /** `step/cell/attempt` of submissions that were put off by the service's answer, in order. */
  readonly putOff: readonly string[];
  /** `step/cell/attempt` of cancels that are written down. */
  readonly cancels: ReadonlySet<string>;
  /** What the run warned of. */
  readonly warnings: readonly string[];
  /** `step/cell/attempt` to the record of its newest outcome: a success becomes a failure where publishing fails. */
  readonly ended: ReadonlyMap<string, EndRecord>;
  /** The records of all outcomes, in order. */
  readonly verdicts: readonly EndRecord[];
  /** `step/cell` of cells that have succeeded with everything published. */
  readonly published: ReadonlySet<string>;
  /** `step/cell` to the attempts whose outputs were published. */
  readonly winners: ReadonlyMap<string, ReadonlySet<number>>;
  /** The number of a cell in the plan with all cells, which all the others here are, by that in the records. */
  readonly cellOf: (step: number, cell: number) => number;
  /** `step/cell/attempt` of ends that were taken back by something else than a failure to publish. */
  readonly changed: readonly string[];
}

type CellNumbers = ReturnType<typeof createCellNumbers>;

/** Reads what is durable, and only what is new of it. */
export function createEvidenceReader(
  disk: MemoryDisk,
  path: string,
  numberCells: () => CellNumbers = () => ({ read: () => {}, of: (_, cell) => cell }),
): () => JournalEvidence {
  let size = 0;
  let numbers = numberCells();
  let evidence = empty(numbers);
  return () => {
    const bytes = disk.durable(path);
    if (bytes.length < size) {
      size = 0;
      numbers = numberCells();
      evidence = empty(numbers);
    }
    for (let end = bytes.indexOf(10, size); end >= 0; end = bytes.indexOf(10, size)) {
      const line = decodeLine(bytes.subarray(size, end));
      if (line) {
        numbers.read(line.record);
        add(evidence, line.record);
      }
      size = end + 1;
    }
    return evidence;
  };
}

type Growing = ReturnType<typeof empty>;

function empty({ of }: CellNumbers) {
  return {
    cellOf: of,
    records: [] as JournalRecord[],
    intents: new Set<string>(),
    isAdopted: false,
    ids: new Map<string, string>(),
    putOff: [] as string[],
    cancels: new Set<string>(),
    warnings: [] as string[],
    ended: new Map<string, EndRecord>(),
    verdicts: [] as EndRecord[],
    published: new Set<string>(),
    winners: new Map<string, Set<number>>(),
    changed: [] as string[],
  };
}

function add(evidence: Growing, record: JournalRecord): void {
  const { cellOf } = evidence;
  evidence.records.push(record);
  if (record.kind === 'adopted') evidence.isAdopted = true;
  if (record.kind === 'intent') {
    evidence.intents.add(record.id);
    evidence.ids.set(`${record.step}/${cellOf(record.step, record.cell)}/${record.attempt}`, record.id);
  }
  if (record.kind === 'cancelIntent')
    evidence.cancels.add(`${record.step}/${cellOf(record.step, record.cell)}/${record.attempt}`);
  if (record.kind === 'warning') evidence.warnings.push(record.message);
  if (record.kind !== 'event') return;
  const { event } = record;
  if (event.type === 'ended') {
    const key = `${event.step}/${cellOf(event.step, event.cell)}/${event.attempt}`;
    const before = evidence.ended.get(key);
    if (before && !mayFollow(before, record)) evidence.changed.push(key);
    evidence.ended.set(key, record);
    evidence.verdicts.push(record);
    if (event.outcome.result === 'succeeded')
      evidence.published.add(`succeeded:${event.step}/${cellOf(event.step, event.cell)}`);
  }
  if (event.type === 'postponed' && event.reason !== 'pool') {
    evidence.putOff.push(`${event.step}/${cellOf(event.step, event.cell)}/${event.attempt}`);
  }
  if (event.type === 'published') {
    const cell = `${event.step}/${cellOf(event.step, event.cell)}`;
    evidence.winners.set(cell, (evidence.winners.get(cell) ?? new Set()).add(event.attempt));
  }
  if (event.type === 'approved' && event.approved) evidence.published.add(`succeeded:${event.step}/0`);
  if (event.type === 'published') evidence.published.add(`published:${event.step}/${cellOf(event.step, event.cell)}`);
}

/** An end may be said again; only a success may still become a failure, that of its publishing. */
function mayFollow(before: EndRecord, after: EndRecord): boolean {
  const [first, second] = [before.event, after.event];
  if (first.type !== 'ended' || second.type !== 'ended') return false;
  return first.outcome.result === second.outcome.result || first.outcome.result === 'succeeded';
}

type EndRecord = Extract<JournalRecord, { kind: 'event' }>;
