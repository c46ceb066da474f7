import type { Plan } from '@sluice/core';
import type { JournalRecord } from '@sluice/run';
import type { JournalEvidence } from './journal-evidence.ts';
import type { SimulatedContainer } from './simulated-service.ts';
import type { VirtualClock } from './virtual-clock.ts';

/** Watches that the time of a run is the time that passes, whatever the machine's clock is set to. */
export interface TimeChecker {
  /** Looks at the records that have become durable. */
  onEvidence(evidence: JournalEvidence): void;
  /** A container is asked to end. */
  onCancel(at: { readonly step: number; readonly cell: number; readonly attempt: number }, asked: AskedContainer): void;
}

interface AskedContainer {
  readonly evidence: JournalEvidence;
  readonly container: SimulatedContainer | undefined;
}

export function createTimeChecker(
  { plan, clock }: { readonly plan: Plan; readonly clock: VirtualClock },
  claim: (holds: boolean, message: () => string) => void,
): TimeChecker {
  let looked = 0;
  let ahead: number | undefined;
  let last = Number.NEGATIVE_INFINITY;
  /** After a reboot nobody can tell a clock that was set forwards from time that has passed. */
  const canTell = () => clock.boot()?.id === 'boot-1';
  return {
    onEvidence({ records }) {
      for (; looked < records.length; looked++) {
        const record = records[looked]!;
        const at = record.kind === 'event' ? record.event.at : 'at' in record ? record.at : undefined;
        if (at === undefined) continue;
        // The time of a run begins with what the machine's clock shows.
        ahead ??= Math.max(0, Math.round(at - writtenAt(record, clock)));
        const [before, limit] = [last, clock.now() + ahead];
        claim(at >= before, () => `record ${looked + 1} is ${before - at} ms before an earlier one`);
        claim(
          !canTell() || at <= limit,
          () => `record ${looked + 1} is ${at - limit} ms ahead of the time that has passed`,
        );
        // A warning is written at once. What a resume reads about the containers waits until it has queried all of them:
        // those records are behind the warnings of that time, with the times at which the containers were queried.
        if (record.kind !== 'warning') last = at;
      }
    },
    onCancel({ step, cell, attempt }, { evidence, container }) {
      const intent = evidence.records.find(
        (record) =>
          record.kind === 'cancelIntent' &&
          record.step === step &&
          evidence.cellOf(step, record.cell) === cell &&
          record.attempt === attempt,
      );
      const { timeoutMs } = plan.steps[step]?.step ?? {};
      const isTimeout = intent?.kind === 'cancelIntent' && intent.reason === 'timeout';
      if (!isTimeout || timeoutMs === undefined || container?.startedAt === undefined || !canTell()) return;
      const ranMs = clock.now() - container.startedAt;
      claim(
        ranMs >= timeoutMs,
        () => `${container.wire.id} is canceled for its timeout of ${timeoutMs} ms after ${ranMs} ms`,
      );
    },
  };
}

/**
 * When the first record of a journal was written. The checker may see it much later: a run that waits for a pool makes
 * no request meanwhile (seeds 2554 and 2870). The uptime in the record tells the time of writing; after a reboot it
 * does not, but then nothing is claimed that depends on it.
 */
function writtenAt(record: JournalRecord, clock: VirtualClock): number {
  const [then, now] = [record.kind === 'opened' ? record.boot : undefined, clock.boot()];
  return then && now ? clock.now() - (now.uptimeMs - then.uptimeMs) : clock.now();
}
