import type { Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { lockFile, makeDirectories, openControlSocket, openSocketPath } from '@sluice/host-system';
import { isHostReachable, MAX_MESSAGE, SOCKET_NAME } from '../control/ask-host.ts';
import { type HostReply, type HostRequest, hostRequest } from '../control/host-request.ts';

/** The right to host the runs of a home; at most one process has it. */
export interface HostClaim {
  /** Rejects further requests at once. Another process can claim the home when the promise resolves. */
  release(): Promise<void>;
}

const PAUSE_MS = 50;
const UNKNOWN = 'the process that hosts the runs of this home does not know the request: it has another version';
/** How long an ending host may take to detach from its runs. */
const ENDING_MS = 60_000;

/**
 * Claims the hosting of a home and answers requests of other processes; `undefined` is an empty reply. The kernel releases the claim when the process
 * ends. Undefined: another process hosts the runs. Waits for a host that is ending; throws if it does not end.
 */
export async function claimHost(
  home: string,
  answer: (request: HostRequest) => HostReply | undefined,
): Promise<HostClaim | undefined> {
  const directory = join(home, 'host');
  await makeDirectories(directory, 0o700);
  const socketPath = await openSocketPath(directory, SOCKET_NAME);
  for (const until = performance.now() + ENDING_MS; ; ) {
    const lock = await lockFile(join(directory, '.lock'));
    if (lock !== undefined) {
      const socket = await openControlSocket(socketPath.path, (connection) => serve(connection, answer));
      return {
        async release() {
          // The socket is closed first: after the lock is released, the next host opens its own.
          const closed = socket?.close();
          await closed;
          lock.release();
          await socketPath.close();
        },
      };
    }
    if (await isHostReachable(home)) {
      await socketPath.close();
      return undefined;
    }
    if (performance.now() >= until) {
      await socketPath.close();
      throw new Error(`could not host the runs of ${home}: another process hosts them and does not reply`);
    }
    await delay(PAUSE_MS);
  }
}

function serve(socket: Socket, answer: (request: HostRequest) => HostReply | undefined): void {
  let received = '';
  socket.setEncoding('utf8');
  socket.on('data', (chunk: string) => {
    received += chunk;
    const end = received.indexOf('\n');
    if (end < 0) {
      if (received.length > MAX_MESSAGE) socket.destroy();
      return;
    }
    const parsed = parseRequest(received.slice(0, end));
    const reply = parsed === undefined ? { error: UNKNOWN } : answer(parsed);
    socket.end(reply === undefined ? '' : `${JSON.stringify(reply)}\n`);
  });
}

function parseRequest(line: string): HostRequest | undefined {
  try {
    return hostRequest.parse(JSON.parse(line));
  } catch {
    return undefined;
  }
}
