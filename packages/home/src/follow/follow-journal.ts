import { fail, ok, type Plan, type Result } from '@sluice/core';
import { createRunModel, type ReadLine, type RunModel } from '@sluice/run';
import type { Disk } from '../journal/disk.ts';
import { journalPath } from '../journal/open-journal.ts';
import { createJournalReader } from '../journal/parse-journal.ts';

const PART_BYTES = 1 << 20;

/** Reads a journal that another process extends, and applies each record once. */
export interface JournalFollower {
  /** Another object if the journal was replaced, or if a newer runner has voided records that had been applied. */
  readonly model: RunModel;
  /** Reads what has been appended. Calls must not overlap. The error describes damage. */
  read(): Promise<Result<void, string>>;
}

/** Records that an older runner wrote after a newer one had read the journal: those from `seq` on, before byte `before`. */
interface VoidPart {
  readonly seq: number;
  readonly before: number;
}

/** Follows the journal in a run's directory from its beginning. Takes no lock. */
export function followJournal(disk: Disk, directory: string, plan: Plan): JournalFollower {
  const file = journalPath(directory);
  let reader = createJournalReader();
  let model = createRunModel(plan);
  let voided: VoidPart[] = [];
  let mustRestart = false;

  function restart(): void {
    reader = createJournalReader();
    model = createRunModel(plan);
    mustRestart = false;
  }

  function apply(line: ReadLine): void {
    if (mustRestart || voided.some(({ seq, before }) => line.seq >= seq && line.start < before)) return;
    // The model cannot go back. It is built again without the records that this line voids.
    mustRestart = line.seq <= model.position;
    if (mustRestart) voided.push({ seq: line.seq, before: line.start });
    else model.apply(line);
  }

  return {
    get model() {
      return model;
    },
    async read() {
      for (let wanted = PART_BYTES; ; ) {
        // If the last line is no longer in its place, this is another journal.
        const { size, lastLine } = reader;
        const place = { start: size - lastLine.length, length: lastLine.length + wanted };
        const part = (await disk.readPart(file, place)) ?? new Uint8Array();
        if (!startsWith(part, lastLine)) {
          voided = [];
          restart();
          continue;
        }
        const read = rejectDamage(() => reader.read(part.subarray(lastLine.length), apply));
        if (!read.ok) return read;
        if (mustRestart) restart();
        else if (part.length < place.length) return ok(undefined);
        // A line may be longer than the part.
        else wanted = reader.size > size ? PART_BYTES : 2 * wanted;
      }
    },
  };
}

/** A record that the run cannot have is damage, too. */
function rejectDamage<T>(read: () => Result<T, string>): Result<T, string> {
  try {
    return read();
  } catch (error) {
    return fail((error as Error).message);
  }
}

function startsWith(bytes: Uint8Array, prefix: Uint8Array): boolean {
  return bytes.length >= prefix.length && Buffer.compare(bytes.subarray(0, prefix.length), prefix) === 0;
}
