import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/** Below the range that the kernel uses for outgoing connections, which would otherwise occupy these ports. */
const FIRST = 20_000;
const LAST = 32_767;
const ATTEMPTS = 200;

/**
 * Assigns port numbers that no live container uses and on which no process of this host listens. One is shared by all
 * clusters of a service: their containers may run on one machine, and listen only some time after the assignment.
 */
export class PortNumbers {
  readonly #taken = new Set<number>();

  /** Marks a port as used, after a restart. */
  hold(port: number): void {
    this.#taken.add(port);
  }

  release(port: number): void {
    this.#taken.delete(port);
  }

  /** A random free port, which is in use until `release`; undefined if none was found. */
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
