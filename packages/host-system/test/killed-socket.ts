import { spawn } from 'node:child_process';

const LISTEN = `require('node:net').createServer().listen(process.argv[1], () => console.log('listening'))`;

/** Creates at `path` the socket of a process that was killed while it listened. */
export async function killedSocket(path: string): Promise<void> {
  const child = spawn(process.execPath, ['-e', LISTEN, path], { stdio: ['ignore', 'pipe', 'inherit'] });
  await new Promise((resolve) => child.stdout.once('data', resolve));
  const ended = new Promise((resolve) => child.once('close', resolve));
  child.kill('SIGKILL');
  await ended;
}
