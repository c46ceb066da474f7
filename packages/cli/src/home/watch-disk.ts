import { statfs } from 'node:fs/promises';

const LOOK_MS = 5_000;
/** Journal and store write pages of this size; with less than some of them, nothing can be written down. */
const LEAST_BYTES = 64 * 1024;

/**
 * Reports once each time that the disk of a home becomes full: runner and embedded service then wait for free space
 * without a message, and nothing is lost. Returns a function that stops it.
 */
export function watchDisk(home: string, print: (text: string) => void): () => void {
  let isFull = false;
  const look = async () => {
    const { bavail, bsize } = await statfs(home);
    const before = isFull;
    isFull = bavail * bsize < LEAST_BYTES;
    if (isFull && !before) print(`the disk of ${home} is full: the run waits for free space; nothing is lost`);
    if (!isFull && before) print(`the disk of ${home} has free space again`);
  };
  // Some file systems do not report their free space.
  const timer = setInterval(() => void look().catch(() => {}), LOOK_MS);
  timer.unref();
  return () => clearInterval(timer);
}
