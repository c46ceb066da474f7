import { spawn } from 'node:child_process';

/** `unsupported`: the program is missing, or the file system has no locks. */
export type FlockOutcome = 'taken' | 'held' | 'unsupported';

/**
 * Requests the kernel's shared or exclusive lock of an open file, without waiting. It starts a program because Node has no
 * API for it. The lock belongs to the open file, so this process keeps it after the program has ended.
 */
export function runFlock(fd: number, options: { readonly isShared: boolean }): Promise<FlockOutcome> {
  return new Promise((resolve, reject) => {
    const args = ['-n', ...(options.isShared ? ['-s'] : []), '3'];
    const program = spawn('flock', args, { stdio: ['ignore', 'ignore', 'pipe', fd] });
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
