import { rm } from 'node:fs/promises';
import { getSystemErrorMap } from 'node:util';
import type { ContainerService } from '@sluice/client';
import { createService } from '@sluice/service';
import { describeSystemError } from '../context/describe-system-error.ts';
import { listUserDirectories } from '../home/user-directories.ts';
import { configureEmbedded } from './configure-embedded.ts';
import { type EmbeddedEngine, placeOfEngine } from './embedded-engine.ts';

/** The embedded service as run by this process. */
export interface OwnService {
  readonly service: ContainerService;
  readonly warnings: readonly string[];
  /** Accepts other processes of this user on a unix socket. */
  listen(socketPath: string): Promise<void>;
  close(): Promise<void>;
}

/** The home of the service, and limits. */
export interface OwnServiceOptions {
  /** Hidden from containers, with everything in it: the token of the run API, sockets, journals, secrets. */
  readonly home: string;
  readonly cpu: number | undefined;
  readonly engine: EmbeddedEngine;
  /** Called once when the store has failed: another process must open the service. */
  readonly onFailure: (error: Error) => void;
}

/** Runs the service of `root` in this process. The caller must hold the claim of `root`. */
export async function openOwnService(
  root: string,
  { home, onFailure, ...how }: OwnServiceOptions,
): Promise<OwnService> {
  const { config, warnings } = await configureEmbedded(root, how);
  const service = await createService({
    config,
    hiddenPaths: [home, ...listUserDirectories(process.env)],
    onFailure: (error) => onFailure(describeFailure(root, error as Error)),
  });
  const { scope } = placeOfEngine(how.engine);
  const principal = { userId: scope.accountID, accounts: [{ ...scope }] };
  return {
    service: service.inProcess(principal),
    warnings: [...warnings, ...service.warnings()],
    listen: async (socketPath) => {
      // A killed owner may have left it; the claim proves that no process uses it.
      await rm(socketPath, { force: true });
      await service.listen({ socketPath, principal });
    },
    close: () => service.close(),
  };
}

/** For the user: LMDB tells the number of a system error, and details of its own. */
function describeFailure(root: string, { cause }: Error): Error {
  const [code, message] = getSystemErrorMap().get(-Number((cause as { code?: unknown } | undefined)?.code)) ?? [];
  const why = message === undefined ? String(cause) : describeSystemError(Object.assign(new Error(message), { code }));
  return new Error(`could not write to the store of the embedded service in ${root}: ${why}`, { cause });
}
