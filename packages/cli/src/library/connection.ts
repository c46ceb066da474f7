import { type ContainerService, createHttpConnection, type HttpServiceOptions, type Scope } from '@sluice/client';
import { fail, guardArguments, ok, type Result, SluiceError } from '@sluice/core';
import type { SiteLimits } from '@sluice/run';
import type { TraceSink } from '@sluice/runner';
import { openEmbeddedService as openEmbedded } from '../connect/embedded-service.ts';
import { keepRecordedService } from '../connect/keep-recorded-service.ts';
import { matchScope } from '../connect/match-scope.ts';
import { openService as openServiceOfCommand } from '../connect/open-service.ts';
import { createRunServer, type RunServer } from '../connect/run-server.ts';
import { prepareHome } from '../home/prepare-home.ts';
import { attempt, type SluiceErrorCode, unwrap } from './error-code.ts';
import { fromCommandError } from './from-command-error.ts';
import { createProgramContext } from './program-context.ts';
import { OPTIONS, readArgument } from './read-options.ts';

/** An open service, and the cluster and account that runs use on it. Close it after the last run. */
export interface Connection {
  readonly service: ContainerService;
  readonly scope: Scope;
  /** Releases what this program holds; containers keep running. */
  close(): Promise<void>;
  /** Limits of the site, from a profile. */
  readonly limits?: SiteLimits;
  /** The collector that receives the runs as traces, from a profile or the environment. */
  readonly traces?: TraceSink;
}

/** Not a part of `Connection`: what it can do changes without notice. */
const servers = new WeakMap<ContainerService, RunServer>();

/** The server at the address of a service, which may execute runs; undefined for the embedded service. */
export function runServerOf({ service }: Pick<Connection, 'service'>): RunServer | undefined {
  return servers.get(service);
}

/** Which service to open. All defaults are those of the command, with the same variables. */
export interface ServiceOptions {
  /** Directory of runs, cache and embedded service. Default: the nearest `.sluice`. */
  readonly home?: string;
  /** Name or file of a profile. Default: `SLUICE_PROFILE`, else `profile.yaml` of the home, else the user's profile `default`. */
  readonly profile?: string;
  readonly cluster?: string;
  readonly account?: string;
}

/**
 * Opens the service that the command would use: that of `SLUICE_SERVICE` or of the profile, else the embedded service of the
 * home. `run` and `resume` do the same if they get no service. Throws `SluiceError`, for example `SERVICE_UNUSABLE`.
 *
 * @example
 * ```ts
 * import { openService, pipeline, run } from 'sluice';
 *
 * const service = await openService({ profile: 'cluster' });
 * const p = pipeline('hello');
 * p.step('hello', { command: ['echo', 'hello'] });
 * await (await run(p, { service })).finished;
 * await service.close();
 * ```
 */
export async function openService(options: ServiceOptions = {}): Promise<Connection> {
  const read = readArgument('openService', OPTIONS.service, options);
  return unwrap(await attempt(() => openAsCommand(read)));
}

/** As `openService`. A run that a command has started has its containers and volumes on the service that it recorded. */
export async function openAsCommand(
  options: { readonly [K in keyof ServiceOptions | 'service']?: string | undefined },
  runId?: string,
): Promise<Result<Connection, SluiceError<SluiceErrorCode>>> {
  const named = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
  const home = await prepareOwnHome(options.home);
  if (!home.ok) return home;
  const chosen = runId === undefined ? named : await keepRecordedService(home.value, runId, named);
  const opened = await openServiceOfCommand(chosen, createProgramContext());
  if (!opened.ok) return fail(fromCommandError(opened.error, 'SERVICE_UNUSABLE'));
  const { service, scope, limits, traces, runServer } = opened.value;
  if (runServer !== undefined) servers.set(service, runServer);
  const close = () => opened.value.close();
  return ok({ service, scope, close, ...(limits && { limits }), ...(traces && { traces }) });
}

/** The service that a function of the library is given, or what chooses it. */
export interface ServiceChoice {
  readonly home?: string | undefined;
  readonly profile?: string | undefined;
  readonly service?: Connection | undefined;
}

/** Calls `act` with the given service, else with that of the run as `openAsCommand`, which is closed then. Throws `SluiceError`. */
export async function withServiceOf<T>(
  runId: string,
  { service, home, profile }: ServiceChoice,
  act: (service: ContainerService) => Promise<T>,
): Promise<T> {
  if (service !== undefined) return act(service.service);
  const opened = unwrap(await attempt(() => openAsCommand({ home, profile }, runId)));
  try {
    return await act(opened.service);
  } finally {
    await opened.close();
  }
}

/**
 * Opens the service that is part of Sluice, in this process or in the one that already runs it for the home. It runs
 * containers as processes of this machine. `home` is the directory of its data and of the runs; default: the nearest
 * `.sluice`, as for the command. `cpu` limits its cores. Throws `SluiceError`.
 *
 * @example
 * ```ts
 * import { openEmbeddedService, pipeline, run } from 'sluice';
 *
 * const service = await openEmbeddedService();
 * const p = pipeline('hello');
 * p.step('hello', { command: ['echo', 'hello'] });
 * for (let i = 0; i < 3; i++) await (await run(p, { service })).finished;
 * await service.close();
 * ```
 */
export async function openEmbeddedService(
  options: { readonly home?: string; readonly cpu?: number } = {},
): Promise<Connection> {
  const { home: path, cpu } = readArgument('openEmbeddedService', OPTIONS.open, options);
  return unwrap(
    await attempt(async () => {
      const home = await prepareOwnHome(path);
      return home.ok ? ok(await openEmbedded(home.value, { cpu })) : home;
    }),
  );
}

/** Address and login of a service. `scope` is needed if the login has several accounts. */
export type ConnectOptions = HttpServiceOptions & { readonly scope?: Scope };

/**
 * Connects to a service of the protocol v1rc1, ours or another. Throws `SluiceError`, for example `UNREACHABLE` or
 * `UNAUTHENTICATED`.
 *
 * @example
 * ```ts
 * import { connectService, pipeline, run } from 'sluice';
 *
 * const login = { email: 'ada@example.org', password: process.env.PASSWORD ?? '' };
 * const service = await connectService({ baseUrl: 'https://containers.example.org', login });
 * const p = pipeline('hello');
 * p.step('hello', { command: ['echo', 'hello'] });
 * await (await run(p, { service })).finished;
 * await service.close();
 * ```
 */
export async function connectService(options: ConnectOptions): Promise<Connection> {
  const { scope, ...where } = readArgument('connectService', OPTIONS.connect, options);
  const { service, api } = guardArguments('connectService', () => createHttpConnection(where as HttpServiceOptions));
  return unwrap(
    await attempt(async () => {
      const found = await findScope(service, scope).catch(async (error: unknown) => {
        await service.close();
        throw error;
      });
      if (!found.ok) {
        await service.close();
        return found;
      }
      servers.set(service, createRunServer({ url: where.baseUrl, scope: found.value, api }));
      return ok({ service, scope: found.value, close: () => service.close() });
    }),
  );
}

async function findScope(
  service: ContainerService,
  scope: Scope | undefined,
): Promise<Result<Scope, SluiceError<SluiceErrorCode>>> {
  if (scope !== undefined) return ok(scope);
  const matched = matchScope(await service.discovery.listAccounts('-'), {});
  if (matched.ok) return matched;
  const names = matched.error.map(({ clusterID, accountID }) => `${clusterID}/${accountID}`).join(', ');
  if (names === '') return fail(new SluiceError('PERMISSION_DENIED', 'the login has no account on the service'));
  return fail(new SluiceError('INVALID_ARGUMENT', `the login has several accounts; set scope to one of ${names}`));
}

/** As `prepareHome` of the command, for a program. */
export async function prepareOwnHome(home: string | undefined): Promise<Result<string, SluiceError<SluiceErrorCode>>> {
  const prepared = await prepareHome({ env: process.env, cwd: process.cwd() }, home === undefined ? {} : { home });
  return prepared.ok ? prepared : fail(new SluiceError('HOME_UNUSABLE', prepared.error.message));
}
