import { writeSync } from 'node:fs';
import { format } from 'node:util';
import { createHostMetrics, type HostMetrics } from '@sluice/host';
import type { TraceSink } from '@sluice/runner';
import { createService, createServiceLog, type Service } from '@sluice/service';
import { type ChosenTraces, chooseTraces } from '../connect/choose-traces.ts';
import type { CommandContext, GlobalOptions } from '../context/command-context.ts';
import { wholeMessage } from '../context/command-rejection.ts';
import { EXIT_CODE, type ExitCode } from '../context/exit-code.ts';
import { reject } from '../context/reject.ts';
import { listUserDirectories } from '../home/user-directories.ts';
import type { RunHosting } from '../hosting/host-runs.ts';
import type { ScheduleHost } from '../hosting/host-schedules.ts';
import { readServiceConfig, type ServedConfig } from '../hosting/read-service-config.ts';
import { createServedAddresses, type ServedAddresses } from '../hosting/served-addresses.ts';
import { renderValue } from '../json/render-value.ts';

/** Time for a service with a failed store to answer in-flight requests. */
const LEAVE_WITHIN_MS = 2_000;

type ServiceLog = ReturnType<typeof createServiceLog>;

/** `config` is a path relative to the working directory; `logLevel` is a level of pino. */
export interface ServeOptions extends GlobalOptions {
  readonly config: string;
  readonly logLevel: string;
}

/**
 * `sluice serve`: runs a v1rc1 service until SIGINT or SIGTERM; containers keep running afterwards. SIGHUP reloads the
 * configuration. If the store fails, it exits with code 1, so that a supervisor restarts it. Logs go to stderr as JSON
 * lines.
 */
export async function serve(context: CommandContext, options: ServeOptions): Promise<number> {
  const config = readServiceConfig(options.config, context);
  if (!config.ok) return reject(config.error, { context, options });
  if (config.value.service.listen.length === 0) {
    const message = `could not serve: ${noAddress(options)}`;
    return reject({ exitCode: EXIT_CODE.rejected, message }, { context, options });
  }
  const traces = await chooseTraces(context);
  if (!traces.ok) return reject(traces.error, { context, options });
  const log = createServiceLog({ level: options.logLevel });
  const restore = captureConsole(log);
  try {
    return await serveUntilStopped(config.value, { context, options, log, ...traces.value });
  } catch (error) {
    return reject(
      { exitCode: EXIT_CODE.runFailed, message: `could not serve: ${describeStartFault(error)}` },
      { context, options },
    );
  } finally {
    restore();
  }
}

/**
 * LMDB prints errors that it also throws, on several lines; they are logged instead, so that the log stays JSON.
 * Returns a function that restores the console.
 */
function captureConsole(log: ServiceLog): () => void {
  const { error, warn } = console;
  console.error = (...printed) => {
    // LMDB's native code prints the start of a line before and does not end it.
    writeSync(process.stderr.fd, '\n');
    log.error({ printed: format(...printed) }, 'a library printed an error');
  };
  console.warn = (...printed) => log.warn({ printed: format(...printed) }, 'a library printed a warning');
  return () => Object.assign(console, { error, warn });
}

interface ServeParts extends ChosenTraces {
  readonly context: CommandContext;
  readonly options: ServeOptions;
  readonly log: ServiceLog;
}

async function serveUntilStopped(config: ServedConfig, { context, options, log, traces }: ServeParts): Promise<number> {
  let end!: (exitCode: ExitCode) => void;
  const ended = new Promise<ExitCode>((resolve) => {
    end = resolve;
  });
  const { createRunHosting } = await import('../hosting/host-runs.ts');
  const metrics = createHostMetrics();
  const runs = createRunHosting(config, { log, metrics, ...(traces && { traces }) });
  const service = await createService({
    ...{
      config: config.service,
      log,
      onFailure: () => end(EXIT_CODE.runFailed),
      extend: runs.extend,
      sealer: runs.sealer,
    },
    hiddenPaths: listUserDirectories(context.env),
    metrics: metrics.read,
  });
  context.onSignal('SIGINT', () => end(EXIT_CODE.ok));
  context.onSignal('SIGTERM', () => end(EXIT_CODE.ok));
  const addresses = createServedAddresses(service, (url) =>
    context.terminal.out(options.json === true ? renderValue('listener', { url }) : `listening on ${url}\n`),
  );
  const work = createReloadableSchedules({
    ...{ service, runs, addresses, context, options, log, metrics },
    ...(traces && { traces }),
  });
  const unsubscribe = context.onSignal('SIGHUP', work.reload);
  try {
    runs.open(service);
    await addresses.open(config.service.listen);
    work.start(config);
    const exitCode = await ended;
    // A failed store may never answer.
    if (exitCode !== EXIT_CODE.ok) setTimeout(() => context.exit(exitCode), LEAVE_WITHIN_MS);
    return exitCode;
  } finally {
    unsubscribe();
    await Promise.all([work.close(), runs.close()]);
    await service.close();
  }
}

const LISTEN_ADVICE: ReadonlyMap<string, string> = new Map([
  ['EADDRINUSE', 'another process listens on that port; stop it, or change `listen` in the configuration'],
  ['EADDRNOTAVAIL', 'this machine does not have that address; change `listen` in the configuration'],
  ['EACCES', 'permission denied: ports below 1024 need privileges; change `listen` in the configuration'],
]);

/** Describes why a service could not start, for errors of configuration or environment. Rethrows bugs. */
function describeStartFault(error: unknown): string {
  const isBug = [TypeError, RangeError, ReferenceError].some((slip) => error instanceof slip);
  if (isBug || !(error instanceof Error)) throw error;
  const { syscall, code = '', address, port } = error as NodeJS.ErrnoException & { address?: string; port?: number };
  const advice = syscall === 'listen' ? LISTEN_ADVICE.get(code) : undefined;
  return advice === undefined ? error.message : `could not listen on ${address} port ${port}: ${advice}`;
}

/**
 * The schedules of a service. They are reopened when the configuration is reloaded; changes are applied one at a time.
 */
function createReloadableSchedules(given: {
  service: Service;
  runs: RunHosting;
  addresses: ServedAddresses;
  context: CommandContext;
  options: ServeOptions;
  log: ServiceLog;
  metrics: HostMetrics;
  traces?: TraceSink;
}) {
  const { service, runs, addresses, context, options, log } = given;
  let hosted: Promise<ScheduleHost | undefined> = Promise.resolve(undefined);
  const change = (next: () => Promise<ScheduleHost | undefined>) => {
    hosted = hosted
      .then(async (before) => {
        await before?.close();
        return next();
      })
      .catch((err: unknown) => {
        log.error({ err }, 'could not open the schedules');
        return undefined;
      });
  };
  const host = async (config: ServedConfig): Promise<ScheduleHost | undefined> => {
    if (config.schedules.length === 0) return undefined;
    const { hostSchedules } = await import('../hosting/host-schedules.ts');
    return hostSchedules({ ...given, config });
  };
  const updateListeners = async (config: ServedConfig): Promise<void> => {
    const { listen } = config.service;
    if (listen.length === 0) return log.error(`could not change the addresses: ${noAddress(options)}`);
    await addresses
      .open(listen)
      .catch((err: unknown) => log.error({ err, listen }, 'could not listen on all addresses'));
  };
  return {
    start: (config: ServedConfig) => change(() => host(config)),
    /** An invalid file changes nothing: the current configuration stays in use. */
    reload() {
      const config = readServiceConfig(options.config, context);
      if (!config.ok)
        return log.error({ problems: wholeMessage(config.error) }, 'could not apply the changed configuration');
      change(async () => {
        const { applied, needsRestart, rejected } = await service.reload(config.value.service);
        await runs.reload(config.value);
        log.info({ applied }, 'reloaded the configuration');
        for (const { field, reason } of rejected) log.error({ field, reason }, 'could not apply a change');
        if (needsRestart.length > 0) log.warn({ needsRestart }, 'restart the service to apply the other changes');
        await updateListeners(config.value);
        return host(config.value);
      });
    },
    async close() {
      await (await hosted)?.close();
    },
  };
}

function noAddress({ config }: ServeOptions): string {
  return `\`listen\` in ${config} has no address; add one, for example {host: 127.0.0.1, port: 8080}`;
}
