import { createHttpService, type HttpServiceOptions, type Scope } from '@sluice/client';
import { fail, guardArguments, ok, type Result, SluiceError } from '@sluice/core';
import { openEmbeddedService as openEmbedded } from '../connect/embedded-service.ts';
import { matchScope } from '../connect/match-scope.ts';
import type { OpenedService } from '../connect/opened-service.ts';
import { prepareHome } from '../home/prepare-home.ts';
import { attempt, type SluiceErrorCode, unwrap } from './error-code.ts';
import { OPTIONS, readArgument } from './read-options.ts';

/** An open service, and the cluster and account that runs use on it. Close it after the last run. */
export type Connection = OpenedService;

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
  const service = guardArguments('connectService', () => createHttpService(where as HttpServiceOptions));
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
      return ok({ service, scope: found.value, close: () => service.close() });
    }),
  );
}

async function findScope(
  service: ReturnType<typeof createHttpService>,
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
