/** What `stat` and `list` say of a file or directory. */
export interface FileEntry {
  /** Path beneath the volume's root, without a leading slash; the root is `''`. */
  readonly path: string;
  readonly kind: 'file' | 'dir';
  /** Bytes; 0 for a directory. */
  readonly size: number;
  /** Milliseconds since the epoch. */
  readonly modifiedAt: number;
  /** Whether the file may be run; absent where the service does not tell. */
  readonly executable?: boolean;
  /**
   * The target of a symlink as it is written there, where the service tells links apart (ours do); `kind` and `size` are
   * then what it leads to, a file of 0 bytes where that is nothing.
   */
  readonly link?: string;
  /** What the service names this version of a file by, where it does. */
  readonly etag?: string;
}

/**
 * The files of one volume, as its transfer service offers them (WebDAV), or directly where the service is embedded.
 * Paths are relative to the volume's root, `/`-separated, without `.`, `..` or empty segments; bytes that are no UTF-8
 * are in them as `bytesToName` has them. Anything else is refused with `INVALID_ARGUMENT`, and so is a file where a
 * directory is wanted, the other way round, and a move or copy of something to or into itself. Every method throws
 * `ServiceError`.
 */
export interface VolumeFiles {
  /** Undefined where nothing is there. */
  stat(path: string): Promise<FileEntry | undefined>;
  /** The entries of a directory, sorted by path; an absent directory throws `NOT_FOUND`. */
  list(path: string): Promise<FileEntry[]>;
  /** The bytes of a file from `start` to before `end`; absent: `NOT_FOUND`. */
  read(path: string, range?: { start?: number; end?: number }): Promise<AsyncIterable<Uint8Array>>;
  /** Writes a whole file and makes the directories above it; a reader never sees half of it. `size` is its length where known. */
  write(
    path: string,
    body: Uint8Array | AsyncIterable<Uint8Array>,
    options?: { size?: number; executable?: boolean },
  ): Promise<void>;
  /**
   * Makes a symlink and the directories above it; the target has to be relative and to stay inside the volume. False:
   * the service cannot.
   */
  link(path: string, target: string): Promise<boolean>;
  /** Makes a directory and those above it; nothing happens where it is. */
  makeDirectory(path: string): Promise<void>;
  /** Renames and makes the directories above `to`. `NOT_FOUND` without `from`, `ALREADY_EXISTS` with `to`. */
  move(from: string, to: string): Promise<void>;
  /**
   * Copies a file, or a directory with all that is in it, and makes the directories above `to`; a reader never sees half
   * of it. `NOT_FOUND` without `from`, `ALREADY_EXISTS` with `to`. The service copies where it can, without moving bytes
   * over the network; symlinks that lead out of the volume, sockets and devices are left out.
   */
  copy(from: string, to: string): Promise<void>;
  /** Removes a file or a whole directory; nothing happens where nothing is. */
  remove(path: string): Promise<void>;
}
