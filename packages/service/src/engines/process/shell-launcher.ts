import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { access, constants, readlink, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { isSystemError } from '@sluice/host-system';
import type { StorageAccess } from '../../storage/storage-access.ts';
import { EngineError } from '../engine.ts';
import { endRemains } from './end-remains.ts';
import type { Launcher, LauncherEvent, LauncherListener, LaunchRequest, MountsBy } from './launcher.ts';
import { parseLauncherEvent } from './launcher-event.ts';
import { isAlive, type ProcessIdentity } from './process-identity.ts';
import { readLines } from './read-lines.ts';
import { rewriteRequest } from './rewrite-request.ts';
import { findShellNamespaces, mapUsers, shellNamespaces, shellSearchPath } from './shell-namespaces.ts';
import { renderShellRequest } from './shell-request.ts';

/** How to start the shell launcher. */
export interface ShellLauncherOptions {
  /** Directory that contains `launcher.sh` and `container.sh`. */
  readonly scripts: string;
  /** Words before `sh`, for example to run containers as another user. */
  readonly prefix: readonly string[];
  readonly maskedPaths: readonly string[];
  readonly mountsBy: ShellMountsBy;
  /** Of the containers' directories. */
  readonly storage: StorageAccess;
}

type ShellMountsBy = Exclude<MountsBy, 'translation'>;

interface Watched {
  readonly directory: string;
  outer: ProcessIdentity | undefined;
  killTimer: NodeJS.Timeout | undefined;
  /** Its outer shell is known to have ended. */
  hasEnded: boolean;
}

function createWatched(directory: string, outer: ProcessIdentity | undefined): Watched {
  return { directory, outer, killTimer: undefined, hasEnded: false };
}

const lookMs = 250;
const noticeMs = 20;

/**
 * Starts containers with util-linux and `sh`, with several processes per container; for machines without the native
 * launcher.
 */
export async function openShellLauncher(options: ShellLauncherOptions, listener: LauncherListener): Promise<Launcher> {
  const entry = options.mountsBy === 'namespaces' ? await findShellNamespaces(options.prefix) : undefined;
  const words = entry === undefined ? [] : shellNamespaces[entry];
  const script = [await findShell(), join(options.scripts, 'launcher.sh'), entry ?? 'none'];
  const [command, ...args] = [...options.prefix, ...words, ...script];
  const child = spawn(command ?? 'sh', args, {
    stdio: ['pipe', 'pipe', 'ignore'],
    detached: true,
    cwd: '/',
    env: { PATH: shellSearchPath() },
  });
  if (entry === 'unmapped') {
    await mapUsers(child).catch((error: Error) => {
      child.kill('SIGKILL');
      throw error;
    });
  }
  return new ShellLauncher(child, { ...options, listener });
}

/** bash if it exists: only bash can close inherited file descriptors above 9. */
async function findShell(): Promise<string> {
  const isThere = await access('/bin/bash', constants.X_OK).then(
    () => true,
    () => false,
  );
  return isThere ? '/bin/bash' : 'sh';
}

class ShellLauncher implements Launcher {
  readonly kind = 'shell';
  readonly mountsBy: ShellMountsBy;
  readonly memory = 'rlimit';
  readonly cores = 'none';
  readonly #child: ChildProcessByStdio<Writable, Readable, null>;
  readonly #options: ShellLauncherOptions & { listener: LauncherListener };
  readonly #watched = new Map<string, Watched>();
  readonly #looking: NodeJS.Timeout;
  #isClosing = false;

  constructor(
    child: ChildProcessByStdio<Writable, Readable, null>,
    options: ShellLauncherOptions & { listener: LauncherListener },
  ) {
    this.#child = child;
    this.#options = options;
    this.mountsBy = options.mountsBy;
    child.stdin.on('error', () => {});
    child.once('exit', (code, signal) => {
      if (!this.#isClosing) options.listener.lost(`the launcher ended with ${signal ?? `code ${code}`}`);
    });
    readLines(child.stdout, (line) => this.#handleLine(line));
    this.#looking = setInterval(() => void this.#lookForGone(), lookMs).unref();
  }

  spawn(request: LaunchRequest): void {
    this.#watched.set(request.id, createWatched(request.directory, undefined));
    void this.#spawn(request);
  }

  async #spawn(request: LaunchRequest): Promise<void> {
    // Named after the launch, not the container: a second attempt must not overwrite a script that is being read.
    const path = join(request.directory, `request-${process.pid}-${request.id}.sh`);
    const script = join(this.#options.scripts, 'container.sh');
    try {
      // It contains the container's environment; the container's first process removes it.
      const isolated = this.mountsBy === 'namespaces';
      const { maskedPaths, prefix, storage } = this.#options;
      await storage.inThread(async () => {
        const ready = this.mountsBy === 'rewriting' ? await rewriteRequest(request) : request;
        const text = renderShellRequest(ready, { script, maskedPaths, isolated });
        await writeFile(path, text, { mode: prefix.length > 0 ? 0o644 : 0o600 });
      });
      this.#child.stdin.write(`${path}\n`);
    } catch (error) {
      if (error instanceof EngineError) {
        this.#emit({ type: 'rejected', id: request.id, reason: error.message });
        return;
      }
      this.#emit({ type: 'fault', id: request.id, reason: `could not write '${path}': ${(error as Error).message}` });
    }
  }

  adopt(id: string, claim: ProcessIdentity, directory: string): void {
    void isAlive(claim).then(async (alive) => {
      if (alive) this.#watched.set(id, createWatched(directory, claim));
      else await endRemains(directory);
      this.#emit({ type: alive ? 'adopted' : 'unknown', id });
    });
  }

  stop(id: string, graceMs: number): void {
    const watched = this.#watched.get(id);
    if (watched === undefined) {
      this.#emit({ type: 'unknown', id });
      return;
    }
    void this.#signalFirst(watched, 'SIGTERM');
    clearTimeout(watched.killTimer);
    watched.killTimer = setTimeout(() => this.kill(id), graceMs);
  }

  kill(id: string): void {
    const watched = this.#watched.get(id);
    if (watched !== undefined) void this.#signalFirst(watched, 'SIGKILL');
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    clearInterval(this.#looking);
    for (const watched of this.#watched.values()) clearTimeout(watched.killTimer);
    this.#watched.clear();
    const exited = new Promise<void>((resolve) => this.#child.once('exit', () => resolve()));
    this.#child.stdin.end();
    if (this.#child.exitCode === null && this.#child.signalCode === null) await exited;
    this.#child.stdout.destroy();
  }

  #handleLine(line: string): void {
    const event = parseLauncherEvent(line);
    if (event.type === 'ready') return;
    const watched = this.#watched.get(event.id);
    if (event.type === 'claimed' && watched !== undefined) {
      const [, , pid, startTicks] = line.split(' ');
      watched.outer = { pid: Number(pid), startTicks: startTicks ?? '' };
      void this.#noticeStart(event.id, watched);
    }
    this.#emit(event);
  }

  #emit(event: LauncherEvent): void {
    if (this.#isClosing) return;
    if (event.type === 'gone' || event.type === 'exists' || event.type === 'fault' || event.type === 'rejected') {
      const id = event.id;
      clearTimeout(this.#watched.get(id)?.killTimer);
      this.#watched.delete(id);
    }
    this.#options.listener.event(event);
  }

  /** The container's first process has no connection to the service: it records its start time in a link. */
  async #noticeStart(id: string, watched: Watched): Promise<void> {
    while (this.#watched.get(id) === watched) {
      const startedAt = Number((await this.#readLink(watched, 'started')) ?? Number.NaN);
      if (this.#watched.get(id) !== watched) return;
      if (startedAt > 0) return this.#emit({ type: 'started', id, startedAt });
      await new Promise((resolve) => setTimeout(resolve, noticeMs));
    }
  }

  #readLink({ directory }: Watched, name: string): Promise<string | undefined> {
    return this.#options.storage.inThread(() => readlink(join(directory, name))).catch(() => undefined);
  }

  async #signalFirst(watched: Watched, signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    await this.#options.storage.inThread(() => symlink('wanted', join(watched.directory, 'stop'))).catch(() => {});
    while (watched.outer === undefined || (await isAlive(watched.outer))) {
      const text = await this.#readLink(watched, 'first');
      if (text !== undefined) {
        const [pid, startTicks] = text.split(' ') as [string, string];
        if (await isAlive({ pid: Number(pid), startTicks })) signalProcess(Number(pid), signal);
        return;
      }
      await new Promise((resolve) => setTimeout(resolve, noticeMs));
    }
  }

  /** Detects containers whose outer shell was killed: it reported no end, and processes that it watched may still run. */
  async #lookForGone(): Promise<void> {
    for (const [id, watched] of [...this.#watched]) {
      if (watched.outer === undefined || watched.hasEnded || (await isAlive(watched.outer))) continue;
      watched.hasEnded = true;
      void endRemains(watched.directory).then(() => {
        if (this.#watched.get(id) === watched) this.#emit({ type: 'gone', id });
      });
    }
  }
}

/** Ignores a process that has ended in the meantime. */
function signalProcess(pid: number, signal: 'SIGTERM' | 'SIGKILL'): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (!isSystemError(error, 'ESRCH')) throw error;
  }
}
