export { readBootID } from './boot-id.ts';
export { type ControlSocket, isListening, openControlSocket, takeSocketName } from './control-socket.ts';
export { type FileLock, isLocked, lockFile } from './lock-file.ts';
export { makeDirectories } from './make-directories.ts';
export { openSocketPath, type SocketPath } from './socket-path.ts';
export { waitForLock } from './wait-for-lock.ts';
export { writeDurably } from './write-durably.ts';
