/** The description of a file or directory that `stat` and `list` return. */
export interface FileEntry {
  /** Path below the volume's root, without a leading slash; the root is `''`. */
  readonly path: string;
  readonly kind: 'file' | 'dir';
  /** Bytes; 0 for a directory. */
  readonly size: number;
  /** Milliseconds since the epoch. */
  readonly modifiedAt: number;
  /** Whether the file is executable; absent if the service does not report it. */
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
  /** Undefined if the path does not exist. */
  stat(path: string): Promise<FileEntry | undefined>;
  /** The entries of a directory, sorted by path; an absent directory throws `NOT_FOUND`. */
  list(path: string): Promise<FileEntry[]>;
  /** The bytes of a file from `start` to before `end`; absent: `NOT_FOUND`. */
  read(path: string, range?: { start?: number; end?: number }): Promise<AsyncIterable<Uint8Array>>;
  /** Writes a complete file and creates its parent directories; a reader never sees half of it. `size` is its length, if known. */
  write(
    path: string,
    body: Uint8Array | AsyncIterable<Uint8Array>,
    options?: { size?: number; executable?: boolean },
  ): Promise<void>;
  /**
   * Creates a symlink and its parent directories. The target must be relative and stay inside the volume. False if the
   * service does not support symlinks.
   */
  link(path: string, target: string): Promise<boolean>;
  /** Creates a directory and its parents; does nothing if it exists. */
  makeDirectory(path: string): Promise<void>;
  /** Renames, and creates the parent directories of `to`. `NOT_FOUND` if `from` does not exist, `ALREADY_EXISTS` if `to` exists. */
  move(from: string, to: string): Promise<void>;
  /**
   * Copies a file, or a directory with all that is in it, and makes the directories above `to`; a reader never sees half
   * of it. `NOT_FOUND` without `from`, `ALREADY_EXISTS` with `to`. The service copies where it can, without moving bytes
   * over the network; symlinks that lead out of the volume, sockets and devices are left out.
   */
  copy(from: string, to: string): Promise<void>;
  /** Removes a file or a whole directory; does nothing if the path does not exist. */
  remove(path: string): Promise<void>;
}
