import { type ContainerService, createHttpService } from '@sluice/client';

/** The service that another process of this home owns. A file of its own, so that an owner loads no HTTP client. */
export function openOwnerService(socketPath: string): ContainerService & { close(): Promise<void> } {
  // Whoever can open the socket acts as the home's user; the token is a formality of the protocol.
  return createHttpService({ baseUrl: 'http://localhost', socketPath, token: 'embedded' });
}
