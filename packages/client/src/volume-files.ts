/** A file or directory, as `stat` and `list` return it. */
export interface FileEntry {
  /** Path below the volume's root, without a leading slash; the root is `''`. */
  readonly path: string;
  /** Of a symlink: the kind of its target. */
  readonly kind: 'file' | 'dir';
  /** Bytes; 0 for a directory. */
  readonly size: number;
  /** Milliseconds since the epoch. */
  readonly modifiedAt: number;
  /** Whether the file is executable; absent if the service does not report it. */
  readonly executable?: boolean;
  /**
   * The target of a symlink as stored, if the service reports links (`sluice serve` does). `kind` and `size` then
   * describe the target; a dangling link is a file of 0 bytes.
   */
  readonly link?: string;
  /** The service's identifier of this version of the file, if it reports one. */
  readonly etag?: string;
}

/**
 * The files of one volume, through its transfer service (WebDAV), or directly if the service is embedded. Paths are
 * relative to the volume's root, `/`-separated, without `.`, `..` or empty segments; bytes that are not UTF-8 are
 * encoded as by `bytesToName`. Other paths are rejected with `INVALID_ARGUMENT`, as are a file in place of a directory,
 * the opposite, and moving or copying something into itself. Every method throws `ServiceError`.
 */
export interface VolumeFiles {
  /** Undefined if the path does not exist. */
  stat(path: string): Promise<FileEntry | undefined>;
  /** The entries of a directory, sorted by path; an absent directory throws `NOT_FOUND`. */
  list(path: string): Promise<FileEntry[]>;
  /** The bytes of a file from `start` to before `end`. Throws `NOT_FOUND` if the file does not exist. */
  read(path: string, range?: { start?: number; end?: number }): Promise<AsyncIterable<Uint8Array>>;
  /**
   * Writes a whole file and creates its parent directories; readers never see a part of it. `size` is its length, if
   * known.
   */
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
  /**
   * Renames, and creates the parent directories of `to`. Throws `NOT_FOUND` if `from` does not exist, `ALREADY_EXISTS`
   * if `to` exists.
   */
  move(from: string, to: string): Promise<void>;
  /**
   * Copies a file or a whole directory, and creates the parent directories of `to`; readers never see a part of it.
   * Throws `NOT_FOUND` if `from` does not exist, `ALREADY_EXISTS` if `to` exists. If possible, the service copies
   * without transferring bytes over the network. Symlinks that lead out of the volume, sockets and devices are omitted.
   */
  copy(from: string, to: string): Promise<void>;
  /** Removes a file or a whole directory; does nothing if the path does not exist. */
  remove(path: string): Promise<void>;
}
