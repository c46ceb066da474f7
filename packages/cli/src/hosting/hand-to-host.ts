import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fail, ok, type Result } from '@sluice/core';
import { askHost, type HostStatus } from '@sluice/host';
import type { CommandContext } from '../context/command-context.ts';
import { describeSystemError } from '../context/describe-system-error.ts';
import { selectHostedEnv } from './hosted-options.ts';

/** A host that does not accept requests within this time has failed. */
const START_MS = 60_000;
const PAUSE_MS = 30;
/** A host that ends as it is asked is replaced by another, at most this often. */
const MAX_HOSTS = 5;
/** A log above this size is renamed when a host starts; one older log is kept. */
const MAX_LOG_BYTES = 4_000_000;
const SHOWN_LOG_LINES = 3;

/** The log of the background hosts of a home. */
function hostLogPath(home: string): string {
  return join(home, 'host', 'host.log');
}

/** Why the log of a background host cannot be written; undefined if it can. */
export function findHostFault(home: string): string | undefined {
  try {
    closeSync(openLog(home));
    return undefined;
  } catch (error) {
    return `could not write ${hostLogPath(home)}: ${describeSystemError(error)}`;
  }
}

/**
 * Has a marked run executed by the home's host, which is started in the background if there is none. The error is a
 * message; the run stays marked.
 */
export async function handToHost(
  home: string,
  { runId, context }: { readonly runId: string; readonly context: Pick<CommandContext, 'env'> },
): Promise<Result<HostStatus, string>> {
  let child: ChildProcess | undefined;
  let hosts = 0;
  for (const until = performance.now() + START_MS; performance.now() < until; await delay(PAUSE_MS)) {
    const reply = await askHost(home, { verb: 'take', runId, env: selectHostedEnv(context.env) });
    if (reply !== undefined) return 'error' in reply ? fail(reply.error) : ok(reply.status);
    if (child?.exitCode === null && child.signalCode === null) continue;
    if (child !== undefined && child.exitCode !== 0) return fail(`the host ended: ${readEndOfLog(home)}`);
    if (hosts++ >= MAX_HOSTS) break;
    try {
      child = startHost(home, context.env);
    } catch (error) {
      return fail(`could not start the host: ${describeSystemError(error)}`);
    }
  }
  return fail(`the host did not start within ${START_MS / 1000} s; see ${hostLogPath(home)}`);
}

/** Starts a process that outlives this one and its terminal. */
function startHost(home: string, env: NodeJS.ProcessEnv): ChildProcess {
  const log = openLog(home);
  try {
    const command = [...process.execArgv, process.argv[1]!, 'host', '--home', home];
    const child = spawn(process.execPath, command, { cwd: home, env, detached: true, stdio: ['ignore', log, log] });
    child.on('error', () => {});
    child.unref();
    return child;
  } finally {
    closeSync(log);
  }
}

function openLog(home: string): number {
  mkdirSync(join(home, 'host'), { recursive: true, mode: 0o700 });
  const path = hostLogPath(home);
  if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) > MAX_LOG_BYTES) renameSync(path, `${path}.old`);
  return openSync(path, 'a', 0o600);
}

function readEndOfLog(home: string): string {
  const lines = readFileSync(hostLogPath(home), 'utf8').trimEnd().split('\n');
  return lines.slice(-SHOWN_LOG_LINES).join(' / ');
}
