import { readdir, readFile } from 'node:fs/promises';
import { systemErrorCode } from '@sluice/host-system';

const lookAgainMs = 20;

/**
 * Kills what is left of a container of the shell launcher whose outer shell is no more, and resolves when nothing is: its
 * shells, which carry the path of its request in their command lines, and what carries its mark in the environment.
 * With the shell that is PID 1 of its namespace everything in it goes.
 */
export async function endRemains(directory: string): Promise<void> {
  for (;;) {
    const killed = (await findRemains(directory)).filter(kill);
    if (killed.length === 0) return;
    await new Promise((resolve) => setTimeout(resolve, lookAgainMs));
  }
}

async function findRemains(directory: string): Promise<number[]> {
  const found: number[] = [];
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const words = await readWords(`/proc/${name}/cmdline`);
    const isShell = words.some((word) => word.startsWith(`${directory}/request-`));
    const marks = isShell ? [] : await readWords(`/proc/${name}/environ`);
    if (isShell || marks.includes(`SLUICE_CONTAINER=${directory}`)) found.push(Number(name));
  }
  return found;
}

/** Nothing of a process that has ended meanwhile, and of one of another user. */
async function readWords(path: string): Promise<string[]> {
  const text = await readFile(path, 'utf8').catch(() => '');
  return text.split('\0');
}

/** False of one that has ended since it was found, and of another user's, who may be looking at the same file. */
function kill(pid: number): boolean {
  try {
    return process.kill(pid, 'SIGKILL');
  } catch (error) {
    const code = systemErrorCode(error);
    if (code === 'ESRCH' || code === 'EPERM') return false;
    throw error;
  }
}
