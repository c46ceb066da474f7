export { readBootId } from './boot-id.ts';
export { type ControlSocket, isListening, openControlSocket, takeSocketName } from './control-socket.ts';
export {
  createFile,
  isUnfinished,
  makeDurableDirectory,
  replaceFile,
  replaceFileSync,
  syncDirectory,
} from './durable-file.ts';
export { fileSystemPlace } from './file-system-place.ts';
export { findMount, type Mount } from './find-mount.ts';
export { HOME_MARK, isHomeMark } from './home-mark.ts';
export { describeJob, type JobEnvironment, memoryOf, readJobEnvironment } from './job-environment.ts';
export { type FileLock, isLocked, lockFile } from './lock-file.ts';
export { nameLockHolder } from './lock-holder.ts';
export { makeDirectories } from './make-directories.ts';
export { type Counter, createCounter } from './metrics/create-counter.ts';
export { createHistogram, type Histogram } from './metrics/create-histogram.ts';
export { measureProcess } from './metrics/measure-process.ts';
export {
  METRICS_TYPE,
  type MetricFamily,
  type MetricLabels,
  type MetricSample,
  renderMetrics,
} from './metrics/metric-family.ts';
export { type DiskAmount, readFreeSpace } from './read-free-space.ts';
export { isSbatchVariable, readSbatchVariables } from './sbatch-variables.ts';
export { openSocketPath, type SocketPath } from './socket-path.ts';
export { isSystemError, systemErrorCode } from './system-error.ts';
export { waitForLock } from './wait-for-lock.ts';
