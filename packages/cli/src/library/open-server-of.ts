import { SluiceError } from '@sluice/core';
import type { ServerPlace } from '@sluice/home';
import type { RunServer } from '../connect/run-server.ts';
import { type Connection, openAsCommand, runServerOf, type ServiceChoice } from './connection.ts';
import { attempt, unwrap } from './error-code.ts';

/** A run that a server executes, or has executed, and how a program wants to reach it. */
export interface ServerRun extends ServiceChoice {
  readonly home: string;
  readonly runId: string;
  readonly place: ServerPlace;
}

/**
 * The server of a run: that of the given service, else the recorded one, which is opened. `close` closes what was opened.
 * `verb` is for the message. Throws `SluiceError`.
 */
export async function openServerOf(
  { home, runId, place, service, profile = place.profile }: ServerRun,
  verb: string,
): Promise<{ readonly opened: Connection; readonly server: RunServer; readonly close: () => Promise<void> }> {
  const { service: url, cluster, account } = place;
  const opened =
    service ?? unwrap(await attempt(() => openAsCommand({ home, profile, service: url, cluster, account })));
  const close = async () => {
    if (service === undefined) await opened.close();
  };
  const server = runServerOf(opened);
  if (server !== undefined) return { opened, server, close };
  await close();
  const message = `could not ${verb} run ${runId}: ${url} executes it, and the given service is another one`;
  throw new SluiceError('SERVICE_UNUSABLE', message);
}
