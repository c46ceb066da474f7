import type { DiskAmount } from '@sluice/host-system';

/**
 * The files of a home. It is an interface so that a simulation can tear writes, fill the disk and lose data.
 * Paths are absolute. Every method throws Node's own errors (`ENOSPC`, `EACCES`, …); an absent file is `undefined`.
 */
export interface Disk {
  read(path: string): Promise<Uint8Array | undefined>;
  /** At most `length` bytes from `start` on; fewer, or none, only at the end of the file. */
  readPart(path: string, part: { readonly start: number; readonly length: number }): Promise<Uint8Array | undefined>;
  /** As `read`, but synchronous: for the few bytes that are read before each commit. */
  readNow(path: string): Uint8Array | undefined;
  /** Names in a directory, sorted; empty if it is absent. Without what a killed `replace` or `create` has left. */
  list(path: string): Promise<string[]>;
  /** Replaces a whole file durably and atomically; only its owner can read it. Blocks are taken while they are written. */
  replace(path: string, content: FileContent): Promise<void>;
  /** As `replace`, but only if there is no such file: of concurrent callers exactly one receives true. */
  create(path: string, bytes: Uint8Array): Promise<boolean>;
  /** Truncates the file to `size` and opens it for appending; creates it and its parent directories. */
  append(path: string, size: number): Promise<AppendFile>;
  /** Appends whole lines to a file that several processes append to. Not durable: for data that a crash may lose. */
  extend(path: string, bytes: Uint8Array): Promise<void>;
  /** A file, or all of a tree with its directories; nothing if absent. */
  measure(path: string): Promise<DiskAmount>;
  /** What can still be created on the disk of an existing path; Infinity if it does not say. */
  free(path: string): Promise<DiskAmount>;
  /** Removes a file or a whole tree, if present. */
  remove(path: string): Promise<void>;
  /**
   * Calls the listener soon after a change in the directory. Changes may be missed, and changes by other machines always
   * are. Returns a function that stops watching.
   */
  watch(directory: string, listener: () => void): () => void;
  /** Claims a directory for this process until released or the process ends. Undefined: another process holds it. */
  claim(directory: string, listener?: ControlListener, options?: ClaimOptions): Promise<Claim | undefined>;
  /**
   * Sends one line to the process that holds a directory's claim and returns its answer, which is empty if the process
   * cannot be reached from here. Undefined: no process holds the claim.
   */
  ask(directory: string, line: string): Promise<string | undefined>;
}

/** The bytes of a file, or blocks of them. */
export type FileContent = Uint8Array | Iterable<Uint8Array>;

/** A file that is open for appending. */
export interface AppendFile {
  /** Blocks until the operating system has all bytes. */
  write(bytes: Uint8Array): void;
  /** Resolves when everything written is durable. After a failure it is unknown what is durable: never call it again. */
  sync(): Promise<void>;
  close(): Promise<void>;
}

/** How a directory is claimed. */
export interface ClaimOptions {
  /** Exclude only processes of this network namespace: for work that stays correct without a claim. Default false. */
  readonly isLocal?: boolean;
}

/** A directory that this process has claimed. */
export interface Claim {
  release(): Promise<void>;
}

/**
 * Answers one line that another process sent to the holder of a claim. Never rejects. `isAwaited`: its sender certainly waits
 * for the answer. Default: the line may say until when.
 */
export type ControlListener = (line: string, how?: { readonly isAwaited: boolean }) => string | Promise<string>;
