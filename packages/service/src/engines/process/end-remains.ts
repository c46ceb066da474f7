import { readdir, readFile } from 'node:fs/promises';
import { systemErrorCode } from '@sluice/host-system';

const lookAgainMs = 20;

/**
 * Kills what is left of a container after its outer shell has died, and resolves when nothing is left. Shells are found by
 * the path of the request in their command line, other processes by the mark in their environment. The death of the shell
 * that is PID 1 of the namespace ends everything in it.
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

/** Empty for a process that has ended or belongs to another user. */
async function readWords(path: string): Promise<string[]> {
  const text = await readFile(path, 'utf8').catch(() => '');
  return text.split('\0');
}

/** False for a process that has ended since, or belongs to another user (who may just be reading the same file). */
function kill(pid: number): boolean {
  try {
    return process.kill(pid, 'SIGKILL');
  } catch (error) {
    const code = systemErrorCode(error);
    if (code === 'ESRCH' || code === 'EPERM') return false;
    throw error;
  }
}
