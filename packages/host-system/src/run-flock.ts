import { spawn } from 'node:child_process';

/** `unsupported`: the program is missing, or the file system has no locks. */
export type FlockOutcome = 'taken' | 'held' | 'unsupported';

interface FlockRequest {
  readonly fd: number;
  readonly isShared: boolean;
  resolve(outcome: FlockOutcome): void;
  reject(error: Error): void;
}

/** Descriptors that one process is given. */
const MOST_AT_ONCE = 64;
/** Locks each descriptor among its arguments and prints the exit codes. */
const LOCK_EACH = 'for lock; do flock -n $lock 2>/dev/null; echo $?; done';

/** One for the process, because starting a program is what costs. */
const queue = createFlockQueue();

/**
 * Requests the kernel's shared or exclusive lock of an open file, without waiting. It starts a program because Node has no
 * API for it. The lock belongs to the open file, so this process keeps it after the program has ended. Locks that are
 * requested while the program runs are requested together by the next one.
 */
export function runFlock(fd: number, { isShared }: { readonly isShared: boolean }): Promise<FlockOutcome> {
  return new Promise((resolve, reject) => queue({ fd, isShared, resolve, reject }));
}

/** Like a group commit: one process at a time, and no timer. */
function createFlockQueue(): (request: FlockRequest) => void {
  let waiting: FlockRequest[] = [];
  let isRunning = false;

  async function runAll(): Promise<void> {
    isRunning = true;
    while (waiting.length > 0) {
      const group = waiting.slice(0, MOST_AT_ONCE);
      waiting = waiting.slice(MOST_AT_ONCE);
      const isTaken = group.length > 1 ? await lockTogether(group).catch(() => []) : [];
      // Of a group, only success is certain: what a failure means is in the messages of the program.
      for (const [index, request] of group.entries()) {
        if (isTaken[index]) request.resolve('taken');
        else await lockAlone(request).then(request.resolve, request.reject);
      }
    }
    isRunning = false;
  }

  return (request) => {
    waiting.push(request);
    if (!isRunning) void runAll();
  };
}

/** Which of the locks were taken; empty if that is unknown. */
function lockTogether(group: readonly FlockRequest[]): Promise<readonly boolean[]> {
  return new Promise((resolve) => {
    const locks = group.map(({ isShared }, index) => `${isShared ? '-s ' : ''}${index + 3}`);
    const stdio = ['ignore', 'pipe', 'ignore', ...group.map(({ fd }) => fd)] as const;
    const shell = spawn('sh', ['-c', LOCK_EACH, 'sh', ...locks], { stdio: [...stdio], env: createEnvironment() });
    let codes = '';
    shell.stdout?.on('data', (chunk: Buffer) => {
      codes += chunk.toString();
    });
    shell.on('error', () => resolve([]));
    shell.on('close', () => resolve(codes.split('\n').map((code) => code === '0')));
  });
}

function lockAlone({ fd, isShared }: FlockRequest): Promise<FlockOutcome> {
  return new Promise((resolve, reject) => {
    const args = ['-n', ...(isShared ? ['-s'] : []), '3'];
    const program = spawn('flock', args, { stdio: ['ignore', 'ignore', 'pipe', fd], env: createEnvironment() });
    let complaint = '';
    program.stderr?.on('data', (chunk: Buffer) => {
      complaint += chunk.toString();
    });
    program.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT' || error.code === 'EACCES') resolve('unsupported');
      else reject(error);
    });
    program.on('close', (code) => {
      if (code === 0) resolve('taken');
      // busybox exits with 1 also when it fails, and then reports why.
      else resolve(code === null || (code === 1 && complaint === '') ? 'held' : 'unsupported');
    });
  });
}

/** Without a locale: reading its files takes longer than locking. */
function createEnvironment(): NodeJS.ProcessEnv {
  const { PATH } = process.env;
  return { LC_ALL: 'C', ...(PATH !== undefined && { PATH }) };
}
