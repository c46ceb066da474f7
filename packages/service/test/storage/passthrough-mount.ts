import { spawn, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const PROGRAM = fileURLToPath(new URL('passthrough-mount.py', import.meta.url));

/** A kind of request that the kernel sends to a file system (FUSE). */
export type FileRequest = 'FLUSH' | 'GETATTR' | 'LOOKUP' | 'READ' | 'STATFS' | 'WRITE';

/** A mounted directory that stops answering on request. */
export interface PassthroughMount {
  /** Leaves requests of these kinds unanswered, or all without any; the call itself makes none. */
  hold(...kinds: FileRequest[]): Promise<void>;
  /** Answers everything, also what was held. */
  answer(): Promise<void>;
  /** The number of requests that wait for an answer. */
  held(): Promise<number>;
  unmount(): Promise<void>;
}

/** Mounts `backing` at `directory`; needs what `canHang` checks. Ends by itself after a while, so that a blocked test fails. */
export async function mountPassthrough(backing: string, directory: string): Promise<PassthroughMount> {
  const server = spawn('python3', [PROGRAM, backing, directory], { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = new Promise<void>((resolve) => server.once('close', () => resolve()));
  const line = () => new Promise<string>((resolve) => server.stdout.once('data', (data) => resolve(String(data))));
  const orEnd = <T>(result: Promise<T>, failure: string) =>
    Promise.race([result, ended.then(() => Promise.reject(new Error(failure)))]);
  const ask = async (command: string) => {
    const reply = line();
    server.stdin.write(`${command}\n`);
    return Number(await orEnd(reply, 'the file system has ended'));
  };
  await orEnd(line(), `could not mount on ${directory}`);
  return {
    hold: async (...kinds) => void (await ask(['hold', ...kinds].join(' '))),
    answer: async () => void (await ask('answer')),
    held: () => ask('held'),
    async unmount() {
      server.stdin.end();
      await ended;
      spawnSync('umount', ['-l', directory]);
    },
  };
}
