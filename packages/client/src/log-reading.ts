import type { LogCut } from './container-service.ts';

/** What is known of a log that was read before. */
export interface KnownLog {
  /** How many of its first bytes. */
  readonly size: number;
  readonly cut?: LogCut | undefined;
}

/** The place of a reader in a log of which streams begin again at the first byte. */
export interface LogReading extends KnownLog {
  /** Another stream begins. */
  begin(): void;
  /** As `onCut` of `Containers.logs`. After a cut, the log is only known up to there. */
  note(cut: LogCut | undefined): void;
  /** The part of the next block of the stream that is not known yet, and is known then. */
  take(block: Uint8Array): Uint8Array;
  /** Whether the stream has not come as far as what is known. */
  readonly isBehind: boolean;
}

/** Creates the place after `known`; by default, at the beginning of an unknown log. */
export function createLogReading(known: KnownLog = { size: 0 }): LogReading {
  let { size, cut } = known;
  /** Of the next byte of the stream. */
  let at = 0;
  return {
    get size() {
      return size;
    },
    get cut() {
      return cut;
    },
    get isBehind() {
      return at < size;
    },
    begin() {
      at = 0;
    },
    note(now) {
      // Without a cut, the service does not say, or does not know any longer.
      if (now === undefined || now.id === cut?.id) return;
      cut = now;
      size = Math.min(size, now.start);
      at = Math.min(at, now.start);
    },
    take(block) {
      const rest = block.subarray(Math.max(0, Math.min(block.length, size - at)));
      at += block.length;
      size = Math.max(size, at);
      return rest;
    },
  };
}
