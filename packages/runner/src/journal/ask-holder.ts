import { connect } from 'node:net';
import { isLockedElsewhere } from '@sluice/host-system';
import { claimSocketName, lockPath } from './claim-directory.ts';

/** A holder that does not answer within this time is as good as silent; its claim still stands. */
const ANSWER_MS = 5000;

/** Sends one line to the holder of a directory's claim. Empty: it cannot be reached. Undefined: nobody holds it. */
export async function askHolder(directory: string, line: string): Promise<string | undefined> {
  let name: string;
  try {
    name = await claimSocketName(directory);
  } catch {
    return undefined;
  }
  const answer = await askSocket(name, line);
  if (answer !== undefined) return answer;
  return (await isLockedElsewhere(lockPath(directory))) ? '' : undefined;
}

function askSocket(name: string, line: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = connect(name);
    let answer = '';
    let connected = false;
    socket.setEncoding('utf8');
    socket.setTimeout(ANSWER_MS, () => socket.destroy());
    socket.on('connect', () => {
      connected = true;
      socket.write(`${line}\n`);
    });
    socket.on('data', (chunk: string) => {
      answer += chunk;
    });
    socket.on('error', () => socket.destroy());
    socket.on('close', () => resolve(connected ? answer.trimEnd() : undefined));
  });
}
