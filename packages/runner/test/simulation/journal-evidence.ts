import { decodeLine } from '../../src/journal/journal-line.ts';
import type { JournalRecord } from '../../src/journal/journal-record.ts';
import type { MemoryDisk } from './memory-disk.ts';

/** What a run's journal says durably at this moment. */
export interface JournalEvidence {
  readonly records: readonly JournalRecord[];
  readonly intents: ReadonlySet<string>;
  /** `step/cell/attempt` of cancels that are written down. */
  readonly cancels: ReadonlySet<string>;
  /** `step/cell/attempt` to the outcome's record. */
  readonly ended: ReadonlyMap<string, Extract<JournalRecord, { kind: 'event' }>>;
  /** `step/cell` of cells that have succeeded with everything published. */
  readonly published: ReadonlySet<string>;
}

/** Reads what is durable, and only what is new of it. */
export function createEvidenceReader(disk: MemoryDisk, path: string): () => JournalEvidence {
  let size = 0;
  let evidence = empty();
  return () => {
    const bytes = disk.durable(path);
    if (bytes.length < size) {
      size = 0;
      evidence = empty();
    }
    for (let end = bytes.indexOf(10, size); end >= 0; end = bytes.indexOf(10, size)) {
      const line = decodeLine(bytes.subarray(size, end));
      if (line) add(evidence, line.record);
      size = end + 1;
    }
    return evidence;
  };
}

type Growing = ReturnType<typeof empty>;

function empty() {
  return {
    records: [] as JournalRecord[],
    intents: new Set<string>(),
    cancels: new Set<string>(),
    ended: new Map<string, Extract<JournalRecord, { kind: 'event' }>>(),
    published: new Set<string>(),
  };
}

function add(evidence: Growing, record: JournalRecord): void {
  evidence.records.push(record);
  if (record.kind === 'intent') evidence.intents.add(record.id);
  if (record.kind === 'cancelIntent') evidence.cancels.add(`${record.step}/${record.cell}/${record.attempt}`);
  if (record.kind !== 'event') return;
  const { event } = record;
  if (event.type === 'ended') {
    const key = `${event.step}/${event.cell}/${event.attempt}`;
    if (!evidence.ended.has(key)) evidence.ended.set(key, record);
    if (event.outcome.result === 'succeeded') evidence.published.add(`succeeded:${event.step}/${event.cell}`);
  }
  if (event.type === 'published') evidence.published.add(`published:${event.step}/${event.cell}`);
}
