import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/** Below the range from which the kernel takes ports for outgoing connections, so that those do not get in the way. */
const FIRST = 20_000;
const LAST = 32_767;
const ATTEMPTS = 200;

/** Gives out port numbers that no live container of the cluster has and that nothing listens on here. */
export class PortNumbers {
  readonly #taken = new Set<number>();

  /** Counts a port as taken, after a restart. */
  hold(port: number): void {
    this.#taken.add(port);
  }

  release(port: number): void {
    this.#taken.delete(port);
  }

  /** A random free port, held until released; undefined where none was found. */
  async take(): Promise<number | undefined> {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const port = randomInt(FIRST, LAST + 1);
      if (this.#taken.has(port)) continue;
      this.#taken.add(port);
      if (await isFree(port)) return port;
      this.#taken.delete(port);
    }
    return undefined;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    probe.listen(port, () => probe.close(() => resolve(true)));
  });
}
