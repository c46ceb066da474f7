/** How far a transfer is. */
export interface TransferProgress {
  readonly files: number;
  readonly totalFiles: number;
  readonly bytes: number;
  readonly totalBytes: number;
  readonly done: boolean;
}

/** What a transfer has brought so far. */
export interface TransferCount {
  addBytes(bytes: number): void;
  addFile(): void;
  end(): void;
}

/** Tells how far a transfer is: at its begin, at its end, and a hundred times at most between them. */
export function countTransfer(
  total: Pick<TransferProgress, 'totalFiles' | 'totalBytes'>,
  tell: (progress: TransferProgress) => void,
): TransferCount {
  let [files, bytes, told] = [0, 0, 0];
  const report = (done: boolean) => {
    told = bytes;
    tell({ ...total, files, bytes, done });
  };
  report(false);
  return {
    addBytes: (count) => {
      bytes += count;
      if (bytes > told && bytes - told >= total.totalBytes / 100) report(false);
    },
    addFile: () => {
      files += 1;
    },
    end: () => report(true),
  };
}
