import { statSync } from 'node:fs';

const FIRST_LOOK_MS = 20;
const SLOWEST_LOOK_MS = 1000;
/** What is due within one slot is looked at together; the ring of slots is longer than the longest wait. */
const SLOT_MS = 20;
const SLOTS = 64;
/** One turn of the event loop looks no longer than this, and wakes no more, since who is woken reads at once. */
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
 * Tells followers of files that these have grown. One timer looks for all of them, so that a file which does not grow
 * costs a system call now and then and nothing else; looks grow rarer while nothing comes. However many are due at once,
 * other work runs between them.
 */
export class LogNotifier {
  readonly #slots = Array.from({ length: SLOTS }, () => new Set<Waiter>());
  /** The slot that is looked at next, counted from the start of the process. */
  #next = 0;
  #count = 0;
  #isLooking = false;

  /** Calls `wake` once the file at `path` has more than `size` bytes, unless the returned function is called before. */
  add(path: string, size: number, wake: () => void): () => void {
    if (!this.#isLooking) {
      this.#isLooking = true;
      this.#next = slotAt(performance.now()) + 1;
      setTimeout(() => this.#look(), SLOT_MS);
    }
    const waiter: Waiter = { path, size, wait: FIRST_LOOK_MS, slot: this.#slotIn(FIRST_LOOK_MS), wake };
    waiter.slot.add(waiter);
    this.#count++;
    return () => {
      if (waiter.slot.delete(waiter)) this.#count--;
    };
  }

  #slotIn(ms: number): Set<Waiter> {
    // Not all at the same moment, though thousands may have begun together; and never into the slot that is being looked at.
    const slot = slotAt(performance.now() + ms * (0.75 + Math.random() / 2));
    return this.#slots[Math.min(Math.max(slot, this.#next + 1), this.#next + SLOTS - 1) % SLOTS]!;
  }

  #look(): void {
    const until = performance.now() + TURN_MS;
    let wakes = 0;
    for (const now = slotAt(performance.now()); this.#next <= now; this.#next++) {
      const slot = this.#slots[this.#next % SLOTS]!;
      for (const waiter of slot) {
        if (wakes === WAKES_A_TURN || performance.now() > until) {
          setImmediate(() => this.#look());
          return;
        }
        slot.delete(waiter);
        if (hasGrown(waiter)) {
          wakes++;
          this.#count--;
          waiter.wake();
        } else {
          waiter.wait = Math.min(waiter.wait * 1.5, SLOWEST_LOOK_MS);
          waiter.slot = this.#slotIn(waiter.wait);
          waiter.slot.add(waiter);
        }
      }
    }
    if (this.#count > 0) setTimeout(() => this.#look(), SLOT_MS);
    else this.#isLooking = false;
  }
}

function slotAt(ms: number): number {
  return Math.floor(ms / SLOT_MS);
}

function hasGrown({ path, size }: Waiter): boolean {
  try {
    return (statSync(path, { throwIfNoEntry: false })?.size ?? 0) > size;
  } catch {
    // The reader that waits gets the error itself.
    return true;
  }
}
