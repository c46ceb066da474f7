import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync, renameSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fail, ok, type Result } from '@sluice/core';
import { isHosted, listHosted } from '@sluice/home';
import { askHost, type HostStatus } from '@sluice/host';
import { selectHostedEnv } from '../connect/hosted-options.ts';
import type { CommandContext, GlobalOptions, ServiceContext } from '../context/command-context.ts';
import { describeSystemError } from '../context/describe-system-error.ts';
import { isHomeNamed } from '../home/home.ts';
import { createHostWaitReporter } from './report-host-wait.ts';

/** The command for whose runs a host is started. */
interface HostStart {
  readonly context: Pick<CommandContext, 'env' | 'program'>;
  /** As the user has named the home. */
  readonly options: Pick<GlobalOptions, 'home'>;
}

/** A host that does not accept requests within this time has failed. */
const START_MS = 60_000;
const PAUSE_MS = 30;
/** A wait is reported each time that this has passed. */
const REPORT_MS = 5_000;
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
 * Hands a marked run to the home's host, which is started in the background if there is none. Reports what it waits for.
 * Undefined: the run no longer needs a host, for example because it has ended meanwhile. The error is a message; the run
 * stays marked.
 */
export async function handToHost(
  home: string,
  given: HostStart & {
    readonly runId: string;
    readonly context: Pick<ServiceContext, 'terminal'>;
    /** Default: a minute. */
    readonly startMs?: number;
  },
): Promise<Result<HostStatus | undefined, string>> {
  const { runId, context, startMs = START_MS } = given;
  const onWait = createHostWaitReporter(context.terminal, home);
  let child: ChildProcess | undefined;
  let hosts = 0;
  const begun = performance.now();
  for (let reported = begun; performance.now() < begun + startMs; await delay(PAUSE_MS)) {
    const reply = await askHost(home, { verb: 'take', runId, env: selectHostedEnv(context.env) }, { onWait });
    if (reply !== undefined) return 'error' in reply ? fail(reply.error) : ok(reply.status);
    if (!isHosted(home, runId)) return ok(undefined);
    if (performance.now() >= reported + REPORT_MS) {
      reported = performance.now();
      const seconds = Math.round((reported - begun) / 1000);
      context.terminal.err(`waiting for the process that hosts the runs of ${home} (${seconds} s)`);
    }
    if (child?.exitCode === null && child.signalCode === null) continue;
    if (child !== undefined && child.exitCode !== 0) return fail(describeChild(child, home));
    if (hosts++ >= MAX_HOSTS) return fail(`${MAX_HOSTS} hosts ended without executing it; see ${hostLogPath(home)}`);
    try {
      child = startHost(home, given);
    } catch (error) {
      return fail(`could not start the host: ${describeSystemError(error)}`);
    }
  }
  const started = child === undefined ? `see ${hostLogPath(home)}` : describeChild(child, home);
  return fail(`no host has accepted it within ${startMs / 1000} s; ${started}`);
}

/** What has become of a process that was started as a host, and what to do next. */
function describeChild({ pid, exitCode, signalCode }: ChildProcess, home: string): string {
  const log = hostLogPath(home);
  if (exitCode === null && signalCode === null) {
    return `process ${pid}, which was started as the host, is still alive and may accept it later: see its log ${log}, or end the process with: kill ${pid}`;
  }
  const reason = signalCode === null ? `with exit code ${exitCode}` : `by ${signalCode}`;
  return `process ${pid}, which was started as the host, ended ${reason}; see its log ${log}, which ends with: ${readEndOfLog(home)}`;
}

/**
 * Starts a host in the background if the home has marked runs and no process accepts requests about them. It waits for a
 * host that is ending. Resolves to the number of these runs, or to why it could not be started.
 */
export async function startHostForMarked(
  home: string,
  given: HostStart & { readonly context: Pick<CommandContext, 'terminal'> },
): Promise<Result<number, string>> {
  const { length } = await listHosted(home);
  const onWait = createHostWaitReporter(given.context.terminal, home);
  const reply = length === 0 ? undefined : await askHost(home, { verb: 'status' }, { onWait });
  if (length === 0 || (reply !== undefined && 'status' in reply)) return ok(0);
  try {
    startHost(home, given);
    return ok(length);
  } catch (error) {
    return fail(`could not start the host: ${describeSystemError(error)}`);
  }
}

/** Starts a process that outlives this one and its terminal. */
function startHost(home: string, { context: { env, program }, options }: HostStart): ChildProcess {
  const log = openLog(home);
  try {
    // A home that was found and not named is found again by the host, so a profile in it must be confirmed there as well.
    const named = isHomeNamed({ env }, options) ? ['--home', home] : [];
    const command = [...(program ?? [...process.execArgv, process.argv[1]!]), 'host', ...named];
    const place = { cwd: dirname(home), env };
    const child = spawn(process.execPath, command, { ...place, detached: true, stdio: ['ignore', log, log] });
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
