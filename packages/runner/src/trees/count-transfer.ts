/** The progress of a transfer. */
export interface TransferProgress {
  readonly files: number;
  readonly totalFiles: number;
  readonly bytes: number;
  readonly totalBytes: number;
  readonly done: boolean;
}

/** Counts the files and bytes of a transfer. */
export interface TransferCount {
  addBytes(bytes: number): void;
  addFile(): void;
  end(): void;
}

/** Reports the progress of a transfer at its start, at its end, and at most a hundred times in between. */
export function countTransfer(
  total: Pick<TransferProgress, 'totalFiles' | 'totalBytes'>,
  onProgress: (progress: TransferProgress) => void,
): TransferCount {
  let [files, bytes, reported] = [0, 0, 0];
  const report = (done: boolean) => {
    reported = bytes;
    onProgress({ ...total, files, bytes, done });
  };
  report(false);
  return {
    addBytes: (count) => {
      bytes += count;
      if (bytes > reported && bytes - reported >= total.totalBytes / 100) report(false);
    },
    addFile: () => {
      files += 1;
    },
    end: () => report(true),
  };
}
