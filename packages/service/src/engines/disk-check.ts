import type { End, EngineSink, Observation } from './engine.ts';

/** Adds to the ends of containers whether they may have failed because the disk of the storage is full. */
export interface DiskCheck {
  readonly report: EngineSink['report'];
  /** Resolves when all ends so far are passed on. */
  idle(): Promise<void>;
}

/** Passes everything on to `report`: the end of a container that failed once the disk is known, the rest immediately. */
export function createDiskCheck(report: EngineSink['report'], isDiskFull: () => Promise<boolean>): DiskCheck {
  const held = new Set<Promise<void>>();
  async function checkDisk(key: string, seen: Observation & { type: 'ended' }, end: Exit): Promise<void> {
    const diskFull = await isDiskFull();
    report(key, diskFull ? { ...seen, end: { ...end, diskFull } } : seen);
  }
  return {
    report(key, seen) {
      if (seen.type !== 'ended' || !isUnexplained(seen.end)) {
        report(key, seen);
        return;
      }
      const checked = checkDisk(key, seen, seen.end).finally(() => held.delete(checked));
      held.add(checked);
    },
    async idle() {
      await Promise.all(held);
    },
  };
}

type Exit = End & { kind: 'exited' };

function isUnexplained(end: End): end is Exit {
  return end.kind === 'exited' && end.exitCode !== 0 && end.outOfMemory !== true && end.timedOut !== true;
}
