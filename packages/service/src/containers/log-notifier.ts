import { statSync } from 'node:fs';

const FIRST_POLL_MS = 20;
const LONGEST_POLL_MS = 1000;
/** Files due within one slot are checked together. The ring of slots is longer than the longest interval. */
const SLOT_MS = 20;
const SLOTS = 64;
/** Limits per turn of the event loop, in time and in woken readers, since each reads immediately. */
const TURN_MS = 3;
const WAKES_A_TURN = 50;

interface Waiter {
  readonly path: string;
  readonly size: number;
  wait: number;
  slot: Set<Waiter>;
  readonly wake: () => void;
}

/**
 * Notifies followers of files when these have grown. One timer polls all files, at an interval that grows for each file that
 * does not change. If many files are due at the same time, other work runs in between.
 */
export class LogNotifier {
  readonly #slots = Array.from({ length: SLOTS }, () => new Set<Waiter>());
  /** The next slot to check, counted from the start of the process. */
  #next = 0;
  #count = 0;
  #isPolling = false;
  readonly #storageFault: () => Promise<string | undefined>;

  /** `storageFault` says why the storage of all files cannot be used now. */
  constructor(storageFault: () => Promise<string | undefined>) {
    this.#storageFault = storageFault;
  }

  /** Calls `wake` once, when the file at `path` has more than `size` bytes, unless the returned function is called first. */
  add(path: string, size: number, wake: () => void): () => void {
    if (!this.#isPolling) {
      this.#isPolling = true;
      this.#next = slotAt(performance.now()) + 1;
      setTimeout(() => void this.#poll(), SLOT_MS);
    }
    const waiter: Waiter = { path, size, wait: FIRST_POLL_MS, slot: this.#slotIn(FIRST_POLL_MS), wake };
    waiter.slot.add(waiter);
    this.#count++;
    return () => {
      if (waiter.slot.delete(waiter)) this.#count--;
    };
  }

  #slotIn(ms: number): Set<Waiter> {
    // Randomized, since thousands of followers may have started together; and never in the slot that is being checked.
    const slot = slotAt(performance.now() + ms * (0.75 + Math.random() / 2));
    return this.#slots[Math.min(Math.max(slot, this.#next + 1), this.#next + SLOTS - 1) % SLOTS]!;
  }

  /** While the storage does not answer, wakes the readers, which report that. */
  async #poll(): Promise<void> {
    const isSilent = (await this.#storageFault()) !== undefined;
    const until = performance.now() + TURN_MS;
    let wakes = 0;
    for (const now = slotAt(performance.now()); this.#next <= now; this.#next++) {
      const slot = this.#slots[this.#next % SLOTS]!;
      for (const waiter of slot) {
        if (wakes === WAKES_A_TURN || performance.now() > until) {
          setImmediate(() => void this.#poll());
          return;
        }
        slot.delete(waiter);
        if (isSilent || hasGrown(waiter)) {
          wakes++;
          this.#count--;
          waiter.wake();
        } else {
          waiter.wait = Math.min(waiter.wait * 1.5, LONGEST_POLL_MS);
          waiter.slot = this.#slotIn(waiter.wait);
          waiter.slot.add(waiter);
        }
      }
    }
    if (this.#count > 0) setTimeout(() => void this.#poll(), SLOT_MS);
    else this.#isPolling = false;
  }
}

function slotAt(ms: number): number {
  return Math.floor(ms / SLOT_MS);
}

function hasGrown({ path, size }: Waiter): boolean {
  try {
    return (statSync(path, { throwIfNoEntry: false })?.size ?? 0) > size;
  } catch {
    // The waiting reader will get the error itself.
    return true;
  }
}
