import { spawn, spawnSync } from 'node:child_process';

/** Whether `program` is installed. In CI a missing one is a failure: a matrix with holes proves nothing. */
export function hasProgram(program: string): boolean {
  const found = spawnSync('sh', ['-c', 'command -v "$1"', 'sh', program]).status === 0;
  if (!found && process.env.CI === 'true') throw new Error(`cannot test with '${program}': it is not installed`);
  return found;
}

/** Runs a client to its end and gives what it wrote, with its exit code. */
export function runClient(
  program: string,
  args: readonly string[],
  options: { input?: string; cwd?: string; env?: Record<string, string> } = {},
): Promise<{ code: number | null; output: string }> {
  return new Promise((resolve, reject) => {
    const { cwd, env, input = '' } = options;
    const child = spawn(program, args, {
      stdio: 'pipe',
      // Ends what hangs, for example on a mount, before the test ends.
      timeout: 120_000,
      env: { ...process.env, ...env },
      ...(cwd === undefined ? {} : { cwd }),
    });
    let output = '';
    child.stdout.on('data', (chunk) => (output += chunk));
    child.stderr.on('data', (chunk) => (output += chunk));
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, output }));
    child.stdin.on('error', () => undefined);
    child.stdin.end(input);
  });
}
