import { type ContainerService, createHttpService, type ServiceWait } from '@sluice/client';

/**
 * Connects to the service that another process of this home owns. In its own file, so that an owner loads no HTTP
 * client.
 */
export function openOwnerService(
  socketPath: string,
  onWait: ((wait: ServiceWait) => void) | undefined,
): ContainerService & { close(): Promise<void> } {
  // Permission on the socket authenticates the user; the protocol only requires some token.
  return createHttpService({ baseUrl: 'http://localhost', socketPath, token: 'embedded', ...(onWait && { onWait }) });
}
