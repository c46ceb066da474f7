import { rm } from 'node:fs/promises';
import type { ContainerService } from '@sluice/client';
import { createService, EMBEDDED_SCOPE, embeddedConfig } from '@sluice/service';

/** The embedded service as run by this process. */
export interface OwnService {
  readonly service: ContainerService;
  readonly warnings: readonly string[];
  /** Accepts other processes of this user on a unix socket. */
  listen(socketPath: string): Promise<void>;
  close(): Promise<void>;
}

/** Runs the service of `root` in this process. The caller must hold the claim of `root`. */
export async function openOwnService(root: string, { cpu }: { cpu: number | undefined }): Promise<OwnService> {
  const config = embeddedConfig({ root, ...(cpu !== undefined && { cpu }) });
  const service = await createService({ config });
  const principal = { userID: EMBEDDED_SCOPE.accountID, accounts: [EMBEDDED_SCOPE] };
  return {
    service: service.inProcess(principal),
    warnings: service.warnings(),
    listen: async (socketPath) => {
      // A killed owner may have left it; the claim proves that no process uses it.
      await rm(socketPath, { force: true });
      await service.listen({ socketPath, principal });
    },
    close: () => service.close(),
  };
}
