import { open, stat } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { type FileEntry, ServiceError, type VolumeFiles } from '@sluice/client';

/** A file of a volume, and the local path at which it is created. */
export interface FileDownload {
  readonly volume: Pick<VolumeFiles, 'read'>;
  readonly entry: FileEntry;
  /** An existing file is an error. */
  readonly to: string | Buffer;
  /** Called with the size of each part. */
  readonly onBytes: (count: number) => void;
}

/**
 * Copies one file of a volume, streaming. The executable bit is kept. Throws `ServiceError` if the size differs from the
 * listed one, or Node's own errors about the local file.
 */
export async function downloadFile({ volume, entry, to, onBytes }: FileDownload): Promise<void> {
  let received = 0;
  const counted = async function* (bytes: AsyncIterable<Uint8Array>) {
    for await (const chunk of bytes) {
      received += chunk.length;
      // An endless reply must not fill the disk.
      if (received > entry.size) throw wrongSize(entry, 'more');
      onBytes(chunk.length);
      yield chunk;
    }
  };
  const mode = entry.executable === true ? 0o777 : 0o666;
  // A stream that opens the file itself could still create it after an error, when the caller has removed it.
  const file = await open(to, 'wx', mode);
  try {
    await pipeline(await volume.read(entry.path), counted, file.createWriteStream());
  } finally {
    await file.close();
  }
  const { size } = await stat(to);
  if (size !== entry.size) throw wrongSize(entry, String(size));
}

function wrongSize({ path, size }: FileEntry, received: string): ServiceError {
  return new ServiceError('NO_REPLY', `${JSON.stringify(path)} has ${size} bytes, but ${received} were received`);
}
