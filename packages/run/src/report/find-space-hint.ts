const NO_SPACE = /no space left on device|disk quota exceeded|\bENOSPC\b|\bEDQUOT\b/i;

/** Whether the last lines of a log say that a disk was full. */
export function saysNoSpace(logTail: readonly string[]): boolean {
  return logTail.some((line) => NO_SPACE.test(line));
}

/** The words of our service for a container that failed on a full disk. */
const FULL_DISK = /^the disk of the service is full\b/;

/** The message of a failure whose log says that a disk was full, unless it says so already. */
export function addFullDisk(message: string, logTail: readonly string[]): string {
  return FULL_DISK.test(message) || !saysNoSpace(logTail) ? message : `a disk that it wrote to is full (${message})`;
}

/** The hint for a failure on a full disk, judged by its message and the last lines of its log; undefined for others. */
export function findSpaceHint(message: string | undefined, logTail: readonly string[]): string | undefined {
  if (!FULL_DISK.test(message ?? '') && !saysNoSpace(logTail)) return undefined;
  return 'a disk that it wrote to is full: free space there, for example by `sluice gc`, and run the step again';
}
