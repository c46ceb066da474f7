export { readBootID } from './boot-id.ts';
export { type ControlSocket, isListening, openControlSocket, takeSocketName } from './control-socket.ts';
export { createFile, makeDurableDirectory, replaceFile, replaceFileSync, syncDirectory } from './durable-file.ts';
export { type FileLock, isLocked, lockFile } from './lock-file.ts';
export { makeDirectories } from './make-directories.ts';
export { openSocketPath, type SocketPath } from './socket-path.ts';
export { isSystemError, systemErrorCode } from './system-error.ts';
export { waitForLock } from './wait-for-lock.ts';
