import { fail, ok, type Result } from '@sluice/core';
import type { EngineName, SiteLimits } from '@sluice/run';
import type { TraceSink } from '@sluice/runner';
import type { GlobalOptions, ServiceContext } from '../context/command-context.ts';
import type { CommandError } from '../context/command-rejection.ts';
import { describeSystemError } from '../context/describe-system-error.ts';
import { EXIT_CODE } from '../context/exit-code.ts';
import { printWarning } from '../context/print-warning.ts';
import { keepReserve } from '../home/disk-reserve.ts';
import { prepareHome } from '../home/prepare-home.ts';
import type { ChosenService } from './choose-service.ts';
import { chooseTraces } from './choose-traces.ts';
import { type EmbeddedEngine, placeOfEngine } from './embedded-engine.ts';
import type { OpenedService } from './opened-service.ts';
import { createWaitReporter } from './report-wait.ts';
import type { RunServer } from './run-server.ts';

/** A service with the home where a command keeps its runs, and the limits of the site. */
export interface HomeService extends OpenedService {
  readonly home: string;
  readonly limits?: SiteLimits;
  /** Receives the runs as traces. */
  readonly traces?: TraceSink;
  /** For the user: how to log in again. Absent for the embedded service. */
  readonly loginAdvice?: string;
  /** Of the embedded service. */
  readonly engine?: EngineName;
  /** Executes runs, if the service hosts them. Absent for the embedded service. */
  readonly runServer?: RunServer;
  /** For the user: how this machine runs containers. */
  readonly warnings?: readonly string[];
}

/** Why the embedded service cannot be used as requested; undefined if it can. */
export function findEmbeddedFault(options: GlobalOptions, engine: EmbeddedEngine): string | undefined {
  const { clusterID, accountID } = placeOfEngine(engine).scope;
  const { cluster = clusterID, account = accountID } = options;
  if (engine.name !== 'local' && options.cpu !== undefined)
    return `could not use --cpu with the engine ${engine.name}: it limits the cores of this machine; limit a run with --parallelism`;
  const unknown = [
    ...(cluster === clusterID ? [] : [`cluster ${cluster}`]),
    ...(account === accountID ? [] : [`account ${account}`]),
  ];
  if (unknown.length === 0) return undefined;
  const has =
    clusterID === accountID
      ? 'one cluster and one account, both named local'
      : `one cluster, named ${clusterID}, and one account, named ${accountID}`;
  return `could not use ${unknown.join(' and ')}: the embedded service has ${has}; name another service with --service or in the profile`;
}

/** Warns about a profile that was found but is not applied. */
export function showIgnored({ ignored }: ChosenService, { terminal }: ServiceContext): void {
  if (ignored !== undefined) printWarning(terminal, ignored);
}

/**
 * Opens the service that was named, else the embedded service of the home, which is created if necessary. The caller
 * closes it.
 */
export async function openService(
  options: GlobalOptions,
  context: ServiceContext,
): Promise<Result<HomeService, CommandError>> {
  const prepared = await prepareHome(context, options);
  if (!prepared.ok) return prepared;
  const home = prepared.value;
  const { chooseService } = await import('./choose-service.ts');
  const chosen = chooseService(options, context);
  if (!chosen.ok) return chosen;
  const { url, profile, engine } = chosen.value;
  const traces = await chooseTraces({ flags: options, env: context.env, profile });
  if (!traces.ok) return traces;
  const given = { home, ...(profile.limits && { limits: profile.limits }), ...traces.value };
  if (url !== undefined) {
    showIgnored(chosen.value, context);
    const { openChosenService } = await import('./open-chosen-service.ts');
    const opened = await openChosenService({ ...chosen.value, url }, { options, context });
    return opened.ok ? ok(await withReserve({ ...opened.value, ...given })) : opened;
  }
  const fault = findEmbeddedFault(options, engine);
  if (fault !== undefined) return fail({ exitCode: EXIT_CODE.rejected, message: fault });
  try {
    const owner = `the process that runs the embedded service of ${home}`;
    const { openEmbeddedService } = await import('./embedded-service.ts');
    const onWait = createWaitReporter(context.terminal, owner);
    const opened = await openEmbeddedService(home, { cpu: options.cpu, engine, onWait });
    const embedded = { ...opened, ...given, engine: engine.name };
    if (options.verbose !== true) return ok(embedded);
    const { reportCalls } = await import('./report-calls.ts');
    return ok({ ...embedded, service: reportCalls(opened.service, context.terminal) });
  } catch (error) {
    return fail({
      exitCode: EXIT_CODE.unreachable,
      message: `could not open the embedded service of ${home}: ${describeSystemError(error)}`,
    });
  }
}

/** The embedded service keeps the reserve of its home; with another service, nothing else would. */
async function withReserve(opened: HomeService): Promise<HomeService> {
  const dropReserve = await keepReserve(opened.home);
  return {
    ...opened,
    close() {
      dropReserve();
      return opened.close();
    },
  };
}
