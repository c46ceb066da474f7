import { type ContainerService, createHttpService } from '@sluice/client';

/** The service that another process of this home owns. A file of its own, so that an owner loads no HTTP client. */
export function openOwnerService(socketPath: string): ContainerService & { close(): Promise<void> } {
  // Access to the socket is what authenticates the home's user; the protocol only requires that there is a token.
  return createHttpService({ baseUrl: 'http://localhost', socketPath, token: 'embedded' });
}
