import { spawn, spawnSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';

/** Mounts a file system that no process serves: each call to it waits. Ends by itself, so that a blocked test fails. */
const PROGRAM = `
import ctypes, os, signal, sys
signal.alarm(40)
libc = ctypes.CDLL(None, use_errno=True)
fd = os.open('/dev/fuse', os.O_RDWR)
options = b'fd=%d,rootmode=40000,user_id=0,group_id=0' % fd
if libc.mount(b'hung', sys.argv[1].encode(), b'fuse', 0, options):
    sys.exit(os.strerror(ctypes.get_errno()))
print('mounted', flush=True)
sys.stdin.read()
`;

/** Whether this process may mount such a file system. */
export function canHang(): boolean {
  try {
    accessSync('/dev/fuse', constants.R_OK | constants.W_OK);
    return process.getuid?.() === 0 && spawnSync('python3', ['--version']).status === 0;
  } catch {
    return false;
  }
}

/** Makes every call to `directory` wait, as a dead network storage does, until the returned function is called. */
export async function hang(directory: string): Promise<() => Promise<void>> {
  const server = spawn('python3', ['-c', PROGRAM, directory], { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = new Promise<void>((resolve) => server.once('close', () => resolve()));
  await new Promise<void>((resolve, reject) => {
    server.stdout.once('data', () => resolve());
    server.once('close', () => reject(new Error(`could not mount on ${directory}`)));
  });
  return async () => {
    server.stdin.end();
    await ended;
    spawnSync('umount', ['-l', directory]);
  };
}
