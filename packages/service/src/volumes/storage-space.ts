import type { Stats } from 'node:fs';
import { renderSize } from '../protocol/sizes.ts';

/** Size of a block in stat(2), independent of the file system. */
const BLOCK_BYTES = 512;

/** Thrown instead of storing more than the quota; `code` is an errno name, as in errors of `node:fs`. */
export class VolumeQuotaExceeded extends Error {
  override readonly name = 'VolumeQuotaExceeded';
  readonly code = 'EDQUOT';
}

/** What one link of a file that is not a directory adds to the space in use: hard links share their file's blocks. */
function shareOf(stats: Stats): number {
  return blocksOf(stats) / Math.max(1, stats.nlink);
}

function blocksOf({ blocks }: Stats): number {
  return blocks * BLOCK_BYTES;
}

/** The space of one file that has writers: each reports what it will write, and at its end what is stored. */
export interface FileCharge {
  /** Reserves space for so many bytes in all. Throws `VolumeQuotaExceeded`. */
  expect(bytes: number): void;
  /** Reserves space for a write; `position` is null for one at the end of the file. Throws `VolumeQuotaExceeded`. */
  grow(length: number, position: number | null): void;
  /** Counts the file as it is after it was cut or extended to `stats.size`. */
  resized(stats: Stats): void;
  /** Ends one writer. The last one counts the file as it is; `stats` is undefined if it could not be determined. */
  close(stats: Stats | undefined): void;
}

/** The limit of an account's space, and who measures it. */
interface SpaceOptions {
  /** In bytes; undefined: no limit. */
  readonly limit?: () => number | undefined;
  /** Called when a file was changed or removed whose counted size is unknown. */
  readonly onInexact?: () => void;
}

/** More files than that are not remembered: each that is not counts as unknown. */
const MOST_REMEMBERED = 100_000;

interface OpenFile {
  /** The part of its size that is included in the space's `bytes`. */
  base: number;
  /** Upper bound of the bytes that were written since then. */
  written: number;
  size: number;
  expected: number;
  reserved: number;
  writers: number;
}

/**
 * The space that an account's volumes use on a cluster, and the only place that decides whether there may be more. It is what
 * the last measurement found, plus the changes since by the service's own operations, plus what files that are being
 * written have reserved. A file that is being written counts as it was before, plus its reservation; at its end, it counts as
 * the file system says. What containers write is found by the next measurement. Until then, removing it frees nothing:
 * otherwise, an account could exceed its quota by removing what was never counted.
 */
export class StorageSpace {
  readonly #limit: () => number | undefined;
  readonly #onInexact: () => void;
  readonly #files = new Map<string, OpenFile>();
  /** What files count for that the service has changed since the last measurement began, and before that. */
  #counted = new Map<string, number>();
  #countedBefore = new Map<string, number>();
  /** When the last measurement began, by the clock of file times. */
  #measuredAt: number | undefined;
  #bytes = 0;
  #reserved = 0;
  /** Absent while nothing is measured. */
  #addedMeanwhile: number | undefined;
  #isInexact = false;

  constructor({ limit = () => undefined, onInexact = () => undefined }: SpaceOptions = {}) {
    this.#limit = limit;
    this.#onInexact = onInexact;
  }

  /** What is stored, without reservations. */
  get bytes(): number {
    return Math.round(this.#bytes);
  }

  /** Throws `VolumeQuotaExceeded` if the account uses more than its quota, or would with so many bytes more. */
  check(more = 0): void {
    const maximum = this.#limit();
    if (maximum === undefined || this.#bytes + this.#reserved + more <= maximum) return;
    throw new VolumeQuotaExceeded(`the account has used up its quota of ${renderSize(maximum)} in volumes`);
  }

  /** Begins to write a file, which may have other writers. */
  open(stats: Stats): FileCharge {
    const key = keyOf(stats);
    const found = this.#files.get(key);
    const file = found ?? {
      ...{ base: this.#countedOf(stats), written: 0, size: stats.size },
      ...{ expected: 0, reserved: 0, writers: 0 },
    };
    file.writers += 1;
    this.#files.set(key, file);
    return {
      expect: (bytes) => {
        this.#reserve(file, { ...file, expected: Math.max(file.expected, bytes) });
      },
      grow: (length, position) => {
        const end = (position ?? file.size) + length;
        this.#reserve(file, { ...file, written: file.written + length, size: Math.max(file.size, end) });
      },
      resized: (now) => this.#settle(file, now),
      close: (now) => {
        file.writers -= 1;
        if (file.writers > 0) return;
        this.#files.delete(key);
        file.expected = 0;
        this.#settle(file, now);
        this.#remember(key, now?.nlink === 0 ? undefined : file.base);
      },
    };
  }

  /** Counts a new entry that is complete. */
  added(stats: Stats): void {
    this.#change(shareOf(stats));
    this.#remember(keyOf(stats), shareOf(stats));
  }

  /** The service is about to change the attributes or the name of a file, and with them its time of change. */
  touched(stats: Stats): void {
    if (stats.isDirectory() || this.#files.has(keyOf(stats)) || !this.#isCounted(stats)) return;
    this.#remember(keyOf(stats), this.#countedOf(stats));
  }

  /** Counts that one link of a file is gone; `stats` are those before. */
  removed(stats: Stats): void {
    // The other links keep the blocks; directories count nothing.
    if (stats.nlink > 1 || stats.isDirectory()) return;
    const open = this.#files.get(keyOf(stats));
    if (open === undefined) {
      this.#change(-this.#countedOf(stats));
      this.#remember(keyOf(stats), undefined);
      return;
    }
    // Its blocks are freed when its last writer ends, and no measurement finds it before that.
    this.#change(-open.base);
    open.written += open.base;
    open.base = 0;
    this.#keep(open);
  }

  /**
   * Replaces what was counted by the result of `walk`, to which it passes what each file counts for. Whether the walk has
   * seen what was added or removed meanwhile is unknown: what was added counts in addition, what was removed may still count.
   * Resolves to whether the result is exact.
   */
  async measure(walk: (bytesOf: (stats: Stats) => number) => Promise<number>): Promise<boolean> {
    const begin = Date.now();
    this.#addedMeanwhile = 0;
    this.#isInexact = false;
    this.#countedBefore = this.#counted;
    this.#counted = new Map();
    const found = await walk((stats) => {
      const open = this.#files.size === 0 ? undefined : this.#files.get(keyOf(stats));
      return open === undefined ? shareOf(stats) : open.base / Math.max(1, stats.nlink);
    });
    const added: number = this.#addedMeanwhile;
    this.#addedMeanwhile = undefined;
    this.#countedBefore = new Map();
    this.#measuredAt = begin;
    this.#bytes = found + added;
    return !this.#isInexact;
  }

  /** What a file that is not open counts for, as far as that is known: a container may have changed it since. */
  #countedOf(stats: Stats): number {
    const key = keyOf(stats);
    const known = this.#counted.get(key) ?? this.#countedBefore.get(key);
    if (known !== undefined) return known;
    if (stats.blocks === 0 || this.#isCounted(stats)) return blocksOf(stats);
    this.#isInexact = true;
    this.#onInexact();
    return 0;
  }

  /** Whether it is known what the file counts for. */
  #isCounted(stats: Stats): boolean {
    const key = keyOf(stats);
    if (this.#counted.has(key) || this.#countedBefore.has(key)) return true;
    return this.#measuredAt === undefined || stats.ctimeMs < this.#measuredAt;
  }

  /** `bytes` is undefined for a file that is gone. */
  #remember(key: string, bytes: number | undefined): void {
    this.#counted.delete(key);
    this.#countedBefore.delete(key);
    if (bytes === undefined || this.#counted.size >= MOST_REMEMBERED) return;
    this.#counted.set(key, bytes);
  }

  #reserve(file: OpenFile, next: OpenFile): void {
    const more = reservationOf(next) - file.reserved;
    if (more > 0) this.check(more);
    Object.assign(file, next);
    this.#keep(file);
  }

  #keep(file: OpenFile): void {
    const reserved = reservationOf(file);
    this.#reserved += reserved - file.reserved;
    file.reserved = reserved;
  }

  #settle(file: OpenFile, stats: Stats | undefined): void {
    const written = Math.min(stats?.size ?? file.size, file.base + file.written);
    // Some file systems (ZFS) tell the blocks only seconds after a write.
    const stored = stats === undefined ? written : Math.max(blocksOf(stats), written);
    const kept = stats?.nlink === 0 ? 0 : stored;
    const change = kept - file.base;
    // An unlinked file that is still open has its blocks, though no name.
    file.written = stored - kept;
    file.base = kept;
    file.size = stats?.size ?? file.size;
    this.#keep(file);
    if (file.writers === 0) this.#reserved -= file.reserved;
    this.#change(change);
  }

  #change(bytes: number): void {
    this.#bytes = Math.max(0, this.#bytes + bytes);
    if (this.#addedMeanwhile === undefined || bytes === 0) return;
    this.#addedMeanwhile += Math.max(0, bytes);
    this.#isInexact = true;
  }
}

/** A file grows by at most what is written, and not beyond its size: what is overwritten takes no space. */
function reservationOf({ base, written, size, expected }: OpenFile): number {
  return Math.max(expected - base, Math.min(base + written, size) - base, 0);
}

function keyOf({ dev, ino }: Stats): string {
  return `${dev}:${ino}`;
}
