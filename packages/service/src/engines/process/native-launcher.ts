import { type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import type { Launcher, LauncherListener, LaunchRequest, MountsBy } from './launcher.ts';
import { parseLauncherEvent } from './launcher-event.ts';
import { launchFields, renderFrame } from './launcher-frame.ts';
import { readLines } from './read-lines.ts';

/** How to start the compiled launcher. */
export interface NativeLauncherOptions {
  readonly path: string;
  /** Words before its command line, for example to run containers as another user. */
  readonly prefix: readonly string[];
  readonly mountsBy: 'namespaces' | 'translation';
  /** Name under which the resource limits of one service's containers are grouped. */
  readonly scope: string;
  readonly maskedPaths: readonly string[];
}

type Child = ChildProcessByStdio<Writable, Readable, null>;

/** Starts the compiled launcher; rejects with its reason if it cannot work here. */
export async function openNativeLauncher(
  options: NativeLauncherOptions,
  listener: LauncherListener,
): Promise<Launcher> {
  // The service's environment may hold secrets, and first processes of containers keep the launcher's memory.
  const [command, ...words] = [...options.prefix, options.path];
  const child = spawn(command ?? options.path, [...words, options.mountsBy, options.scope, ...options.maskedPaths], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: {},
    cwd: '/',
  });
  return await new Promise<Launcher>((resolve, reject) => {
    let launcher: NativeLauncher | undefined;
    child.once('error', (cause) => reject(new Error(`could not start the launcher '${options.path}'`, { cause })));
    // Not `close`: the first processes of running containers keep the other end of the socket open.
    child.once('exit', (code, signal) => {
      const reason = `the launcher ended with ${signal ?? `code ${code}`}`;
      if (launcher === undefined) reject(new Error(reason));
      else launcher.closed(reason);
    });
    readLines(child.stdout, (line) => {
      if (launcher !== undefined) listener.event(parseLauncherEvent(line));
      else if (line.startsWith('failed ')) reject(new Error(line.slice('failed '.length)));
      else {
        const ready = parseLauncherEvent(line);
        if (ready.type !== 'ready') throw new Error(`could not read the launcher's first line '${line}'`);
        launcher = new NativeLauncher(child, {
          listener,
          mountsBy: options.mountsBy,
          memory: ready.memory,
          cores: ready.cores,
        });
        resolve(launcher);
      }
    });
  });
}

class NativeLauncher implements Launcher {
  readonly kind = 'native';
  readonly mountsBy: MountsBy;
  readonly memory: string;
  readonly cores: string;
  readonly #child: Child;
  readonly #listener: LauncherListener;
  readonly #ended: Promise<void>;
  #markEnded: () => void = () => {};
  #frames: Buffer[] = [];
  #isClosing = false;

  constructor(
    child: Child,
    options: { listener: LauncherListener; mountsBy: MountsBy; memory: string; cores: string },
  ) {
    this.#child = child;
    this.#listener = options.listener;
    this.mountsBy = options.mountsBy;
    this.memory = options.memory;
    this.cores = options.cores;
    this.#ended = new Promise((resolve) => {
      this.#markEnded = resolve;
    });
    // The exit event reports a dead launcher with a better reason than EPIPE.
    child.stdin.on('error', () => {});
  }

  spawn(request: LaunchRequest): void {
    this.#send(launchFields(request));
  }

  adopt(id: string, claim: { pid: number; startTicks: string }): void {
    this.#send(['adopt', id, String(claim.pid), claim.startTicks]);
  }

  stop(id: string, graceMs: number): void {
    this.#send(['stop', id, String(Math.min(Math.max(Math.round(graceMs), 0), 2 ** 31 - 1))]);
  }

  kill(id: string): void {
    this.#send(['kill', id]);
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    this.#flush();
    this.#child.stdin.end();
    await this.#ended;
    this.#child.stdout.destroy();
  }

  closed(reason: string): void {
    this.#markEnded();
    if (!this.#isClosing) this.#listener.lost(reason);
  }

  /** Sends all frames of one event loop iteration in one write. */
  #send(fields: readonly string[]): void {
    this.#frames.push(renderFrame(fields));
    if (this.#frames.length === 1) setImmediate(() => this.#flush());
  }

  #flush(): void {
    if (this.#frames.length === 0) return;
    this.#child.stdin.write(this.#frames.length === 1 ? this.#frames[0]! : Buffer.concat(this.#frames));
    this.#frames = [];
  }
}
