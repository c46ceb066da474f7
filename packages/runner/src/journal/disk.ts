/**
 * The files of a home, as the shell needs them: an interface so that a simulation can tear, fill and lose them.
 * Paths are absolute. Every method throws Node's own errors (`ENOSPC`, `EACCES`, …); an absent file is `undefined`.
 */
export interface Disk {
  read(path: string): Promise<Uint8Array | undefined>;
  /** As `read`, at once: for the few bytes that are looked at before each commit. */
  readNow(path: string): Uint8Array | undefined;
  /** Names in a directory, sorted; none where it is absent. */
  list(path: string): Promise<string[]>;
  /** Puts a whole file in place, durable and readable by its owner only; a reader sees the old or the new one. */
  replace(path: string, bytes: Uint8Array): Promise<void>;
  /** As `replace`, but only where there is no such file: of any number of callers one gets true, the others false. */
  create(path: string, bytes: Uint8Array): Promise<boolean>;
  /** Opens for appending after cutting the file to `size`; makes it and the directories above it. */
  append(path: string, size: number): Promise<AppendFile>;
  /** Adds whole lines to a file that several processes add to. Not durable: for what may be lost in a crash. */
  extend(path: string, bytes: Uint8Array): Promise<void>;
  /** Bytes of a file, or of every file beneath a directory; 0 where nothing is there. */
  measure(path: string): Promise<number>;
  /** Removes a file or a whole directory; nothing happens where nothing is. */
  remove(path: string): Promise<void>;
  /**
   * Calls the listener soon after something in the directory has changed, as far as the machine tells; of what other
   * machines do it does not. Gives back what ends it.
   */
  watch(directory: string, listener: () => void): () => void;
  /** Claims a directory for this process until released or the process ends. Undefined: another holds it. */
  claim(directory: string, listener?: ControlListener, options?: ClaimOptions): Promise<Claim | undefined>;
  /**
   * Sends one line to whoever holds a directory's claim, and gives its answer; it is empty where the holder cannot be
   * reached from here. Undefined: nobody holds it.
   */
  ask(directory: string, line: string): Promise<string | undefined>;
}

export interface AppendFile {
  write(bytes: Uint8Array): void;
  /** Resolves when everything written is durable. A failure leaves it unknown what is: never call again. */
  sync(): Promise<void>;
  close(): Promise<void>;
}

export interface ClaimOptions {
  /** Keeps out the processes of this network namespace only: for what stays right without any claim. Default false. */
  readonly isLocal?: boolean;
}

export interface Claim {
  release(): Promise<void>;
}

/** Answers one line that another process sent to the holder of a claim. */
export type ControlListener = (line: string) => string;
