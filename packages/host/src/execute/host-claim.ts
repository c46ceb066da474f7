import type { Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createSystemClock, isLate, LATE } from '@sluice/home';
import { lockFile, makeDirectories, openControlSocket, openSocketPath } from '@sluice/host-system';
import type { z } from 'zod';
import { askHost, LOCK_NAME, MAX_MESSAGE, SOCKET_NAME } from '../control/ask-host.ts';
import { type HostReply, type HostRequest, sentHostRequest } from '../control/host-request.ts';

/** The right to host the runs of a home; at most one process has it. */
export interface HostClaim {
  /** Rejects further requests at once. Another process can claim the home when the promise resolves. */
  release(): Promise<void>;
}

const PAUSE_MS = 50;
const UNKNOWN = 'the process that hosts the runs of this home does not know the request: it has another version';
/** How long an ending host may take to suspend its runs, which takes long for a large run on a busy machine. */
const ENDING_MS = 10 * 60_000;
/** A wait is reported after this time, and then each time that it has passed again. */
const REPORT_MS = 5_000;

/** The wait for a host that is ending. */
export interface HostWait {
  /** Called every few seconds with the duration of the wait so far. */
  readonly onWait?: (waitedMs: number) => void;
  /** Aborted: the claim is given up with an error. */
  readonly signal?: AbortSignal;
}

/**
 * Claims the hosting of a home and answers requests of other processes; `undefined` is an empty reply. The kernel releases
 * the claim when the process ends. Undefined: another process hosts the runs and accepts requests. Waits for a host that is
 * ending; throws if it does not end.
 */
export async function claimHost(
  home: string,
  answer: (request: HostRequest) => HostReply | undefined,
  { onWait, signal }: HostWait = {},
): Promise<HostClaim | undefined> {
  const directory = join(home, 'host');
  await makeDirectories(directory, 0o700);
  const socketPath = await openSocketPath(directory, SOCKET_NAME);
  const begun = performance.now();
  let claim: HostClaim | undefined;
  let reported = 0;
  const report = () => {
    const waited = performance.now() - begun;
    if (waited < reported + REPORT_MS) return;
    reported = waited;
    onWait?.(waited);
  };
  try {
    while (claim === undefined) {
      const lock = await lockFile(join(directory, LOCK_NAME));
      if (lock !== undefined) {
        const socket = await openControlSocket(socketPath.path, (connection) => serve(connection, answer));
        claim = {
          async release() {
            // The socket is closed first: after the lock is released, the next host opens its own.
            await socket?.close();
            lock.release();
            await socketPath.close();
          },
        };
        continue;
      }
      // An ending host replies nothing, although it listens until it has left its runs.
      const reply = await askHost(home, { verb: 'status' }, { onWait: report });
      if (reply !== undefined && 'status' in reply) return undefined;
      const waited = performance.now() - begun;
      if (waited >= ENDING_MS || signal?.aborted === true) {
        const why = reply === undefined ? 'is ending and has not left them' : `does not reply: ${reply.error}`;
        const seconds = Math.round(waited / 1000);
        throw new Error(`could not host the runs of ${home}: after ${seconds} s, the process that hosts them ${why}`);
      }
      report();
      await delay(PAUSE_MS);
    }
    return claim;
  } finally {
    if (claim === undefined) await socketPath.close();
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
    const reply = perform(received.slice(0, end), answer);
    socket.end(reply === undefined ? '' : `${JSON.stringify(reply)}\n`);
  });
}

function perform(line: string, answer: (request: HostRequest) => HostReply | undefined): HostReply | undefined {
  const request = parseRequest(line);
  if (request === undefined) return { error: UNKNOWN };
  return isLate(request.before, createSystemClock()) ? { error: LATE } : answer(request);
}

function parseRequest(line: string): z.infer<typeof sentHostRequest> | undefined {
  try {
    return sentHostRequest.parse(JSON.parse(line));
  } catch {
    return undefined;
  }
}
