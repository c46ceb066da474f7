import { randomBytes } from 'node:crypto';
import { existsSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const LOOK_MS = 1_000;
/** With less free space than this, the journal and the store cannot be relied on to record an end. */
const LEAST_BYTES = 256 * 1024;
/**
 * Enough to record ends and a cancellation. Together with what is left, it is less than the store requires before it
 * accepts a new container.
 */
const RESERVE_BYTES = 768 * 1024;
/** With more free space than this, the reserve is created again. */
const AMPLE_BYTES = 8 * 1024 * 1024;

/** The file in a home that is removed when the disk is full, so that runs can be ended and space be freed. */
function reservePath(home: string): string {
  return join(home, 'reserve');
}

/**
 * Keeps a reserve of disk space for a home: removes it while the disk is full, and creates it again when there is space.
 * Without it, a step that fills the disk could neither fail nor be canceled. Returns a function that stops this.
 */
export function keepReserve(home: string): () => void {
  adjustReserve(home);
  const timer = setInterval(() => adjustReserve(home), LOOK_MS);
  timer.unref();
  return () => clearInterval(timer);
}

function adjustReserve(home: string): void {
  const path = reservePath(home);
  try {
    const { bavail, bsize, blocks } = statfsSync(home);
    // Some file systems do not report their free space.
    if (blocks === 0) return;
    const free = bavail * bsize;
    if (free < LEAST_BYTES) rmSync(path, { force: true });
    else if (free >= AMPLE_BYTES && !existsSync(path)) makeReserve(path);
  } catch {
    // The home may be read-only or removed: its next use reports the cause.
  }
}

/** Writes bytes that no file system can store in less space. */
function makeReserve(path: string): void {
  try {
    writeFileSync(path, randomBytes(RESERVE_BYTES), { mode: 0o600, flag: 'wx' });
  } catch {
    // An incomplete reserve would count as a complete one. Another process may have created it at the same time.
    rmSync(path, { force: true });
  }
}
