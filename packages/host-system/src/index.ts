export { readBootID } from './boot-id.ts';
export { directoryIdentity } from './directory-identity.ts';
export { type FileLock, isLockedElsewhere, lockFile } from './lock-file.ts';
export { makeDirectories } from './make-directories.ts';
export { writeDurably } from './write-durably.ts';
