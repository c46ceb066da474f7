import { connect } from 'node:net';
import { join } from 'node:path';
import { createDeadline, createSystemClock, describeUnanswered } from '@sluice/home';
import { isSystemError, nameLockHolder, openSocketPath } from '@sluice/host-system';
import { type HostReply, type HostRequest, hostReply } from './host-request.ts';

/** The lock of the host in `HOME/host`. */
export const LOCK_NAME = '.lock';
/** The socket of the host in `HOME/host`. */
export const SOCKET_NAME = '.control.sock';
/** The longest message in characters: the environment of a run may contain long secrets. */
export const MAX_MESSAGE = 4_000_000;
/** A host that does not reply within this time is stopped or hangs. */
const REPLY_MS = 20_000;
/** A wait is reported each time that this has passed. */
const REPORT_MS = 5_000;

/** The wait for a process that hosts the runs of a home. */
export interface HostReplyWait {
  /** For messages. */
  readonly process: string;
  readonly waitedMs: number;
}

/** How a request to a host is sent. */
export interface AskHostOptions {
  /** Called every 5 s until the host has replied. Default: nothing. */
  readonly onWait?: (wait: HostReplyWait) => void;
}

/**
 * Sends a request to the host of a home. Undefined: no process hosts the home's runs, or it ends now. A request without a
 * reply expires, so that it has no effect after this function has returned.
 */
export async function askHost(
  home: string,
  request: HostRequest,
  { onWait }: AskHostOptions = {},
): Promise<HostReply | undefined> {
  const begun = performance.now();
  const report = () =>
    onWait?.({ process: nameLockHolder(join(home, 'host', LOCK_NAME)), waitedMs: performance.now() - begun });
  const reporting = onWait && setInterval(report, REPORT_MS);
  try {
    return await withSocketPath(home, (path) => ask(path, request));
  } finally {
    clearInterval(reporting);
  }
}

async function withSocketPath<T>(home: string, action: (path: string) => Promise<T>): Promise<T | undefined> {
  let socketPath: Awaited<ReturnType<typeof openSocketPath>>;
  try {
    socketPath = await openSocketPath(join(home, 'host'), SOCKET_NAME);
  } catch (error) {
    if (isSystemError(error, 'ENOENT', 'ENOTDIR')) return undefined;
    throw error;
  }
  try {
    return await action(socketPath.path);
  } finally {
    await socketPath.close();
  }
}

function ask(path: string, request: HostRequest): Promise<HostReply | undefined> {
  const before = createDeadline(createSystemClock(), REPLY_MS);
  return new Promise((resolve) => {
    const socket = connect(path);
    let received = '';
    let isConnected = false;
    socket.setEncoding('utf8');
    socket.setTimeout(REPLY_MS, () => {
      resolve({ error: `the process that hosts the runs of this home ${describeUnanswered(before)}` });
      socket.destroy();
    });
    socket.on('connect', () => {
      isConnected = true;
      socket.write(`${JSON.stringify({ ...request, before })}\n`);
    });
    socket.on('data', (chunk: string) => {
      received += chunk;
    });
    socket.on('error', ({ code }: NodeJS.ErrnoException) => {
      if (!isConnected && (code === 'EACCES' || code === 'EPERM'))
        resolve({ error: `could not connect to the process that hosts the runs of this home: ${code}` });
    });
    socket.on('close', () => resolve(parseReply(received)));
  });
}

function parseReply(text: string): HostReply | undefined {
  try {
    return hostReply.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}
