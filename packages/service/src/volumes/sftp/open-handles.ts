import { randomBytes } from 'node:crypto';
import type { ChargedFile } from '../files/charged-file.ts';
import type { TreeEntry } from '../files/confined-tree.ts';
import type { OrderedWrites } from './ordered-writes.ts';
import { SftpFailure } from './sftp-failure.ts';
import { STATUS } from './sftp-packet.ts';

const MAX_HANDLES = 256;

/** What a client has open: a file, or the remaining entries of a directory. */
export type OpenHandle =
  | { readonly kind: 'file'; readonly file: ChargedFile; readonly writes: OrderedWrites }
  | { readonly kind: 'directory'; readonly entries: AsyncGenerator<TreeEntry> };

/** The handles of one session. `closeAll` must be called at its end. */
export interface OpenHandles {
  add(handle: OpenHandle): Buffer;
  file(name: Buffer): { readonly file: ChargedFile; readonly writes: OrderedWrites };
  directory(name: Buffer): AsyncGenerator<TreeEntry>;
  close(name: Buffer): Promise<void>;
  closeAll(): Promise<void>;
}

/** Lookups throw `SftpFailure` for unknown handles and for handles of the other kind. */
export function createOpenHandles(): OpenHandles {
  const handles = new Map<string, OpenHandle>();
  const find = (name: Buffer): OpenHandle => {
    const handle = handles.get(name.toString('hex'));
    if (handle === undefined) throw new SftpFailure(STATUS.FAILURE, 'the handle is not open');
    return handle;
  };
  const end = async (handle: OpenHandle): Promise<void> => {
    if (handle.kind === 'file') await handle.file.close();
    else await handle.entries.return(undefined);
  };
  return {
    add(handle) {
      if (handles.size >= MAX_HANDLES) {
        // The entries of a directory hold no resources before they are read.
        if (handle.kind === 'file') void handle.file.close().catch(() => {});
        throw new SftpFailure(STATUS.FAILURE, `more than ${MAX_HANDLES} handles are open`);
      }
      const name = randomBytes(8);
      handles.set(name.toString('hex'), handle);
      return name;
    },
    file(name) {
      const handle = find(name);
      if (handle.kind !== 'file') throw new SftpFailure(STATUS.FAILURE, 'the handle is of a directory');
      return handle;
    },
    directory(name) {
      const handle = find(name);
      if (handle.kind !== 'directory') throw new SftpFailure(STATUS.FAILURE, 'the handle is of a file');
      return handle.entries;
    },
    async close(name) {
      const handle = find(name);
      handles.delete(name.toString('hex'));
      await end(handle);
    },
    async closeAll() {
      const left = [...handles.values()];
      handles.clear();
      await Promise.all(left.map(end));
    },
  };
}
