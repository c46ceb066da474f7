import { connect } from 'node:net';
import { isLocked, nameLockHolder } from '@sluice/host-system';
import { lockPath, openControlPath } from './claim-directory.ts';
import { sendRequest } from './send-request.ts';

/** A holder that does not answer within this time counts as unreachable; it still holds the claim. */
export const ANSWER_MS = 5000;

/**
 * Sends one line to the holder of a directory's claim: to its socket, or as a file if it is on another machine. Empty: the
 * holder is unreachable, or has left. Undefined: no process holds the claim. An empty line only asks for a holder.
 */
export async function askHolder(directory: string, line: string): Promise<string | undefined> {
  const answer = await askSocket(directory, line);
  if (answer !== undefined) return answer;
  // Without a socket, a process may still hold the lock. If none does, this check seldom starts a program.
  const lock = lockPath(directory);
  if (!(await isLocked(lock))) return undefined;
  const sent = line === '' ? undefined : await sendRequest(directory, line);
  if (sent?.kind === 'answered') return sent.answer;
  if (sent === undefined || sent.kind === 'gone' || !(await isLocked(lock))) return '';
  const who = `${nameLockHolder(lock)}, which has the run,`;
  return sent.kind === 'withdrawn'
    ? `${who} has not taken the request, which was withdrawn: nothing was done; try again, or end that process`
    : `${who} has taken the request and does not answer: it may still carry it out; look at the run`;
}

/** Undefined: no process listens. */
async function askSocket(directory: string, line: string): Promise<string | undefined> {
  const socketPath = await openControlPath(directory).catch(() => undefined);
  if (socketPath === undefined) return undefined;
  try {
    return await askPath(socketPath.path, line);
  } finally {
    await socketPath.close();
  }
}

function askPath(name: string, line: string): Promise<string | undefined> {
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
