import { type ContainerService, createHttpService, type HttpServiceAddress } from '@sluice/client';
import { onTestFinished } from 'vitest';
import { type InstantClock, instantClock } from './instant-clock.ts';
import { type Handler, type ScriptedServer, scriptedServer } from './scripted-server.ts';

export interface WithService {
  readonly service: ContainerService;
  readonly server: ScriptedServer;
  readonly clock: InstantClock;
}

export const REF = { clusterID: 'c1', accountID: 'a1', id: 'x1' };
export const SCOPE = { clusterID: 'c1', accountID: 'a1' };
export const CONTAINER = { ...REF, phase: 'Running' };

/** The client against a scripted server with the token `tok`; both are closed after the test. */
export async function withService(handle: Handler, options: Partial<HttpServiceAddress> = {}): Promise<WithService> {
  const server = await scriptedServer(handle);
  const clock = instantClock();
  const service = createHttpService({ baseUrl: server.url, token: 'tok', clock, ...options });
  onTestFinished(async () => {
    await service.close();
    await server.close();
  });
  return { service, server, clock };
}

/** The same with a login; the server must answer `/user/api/login`. */
export async function withLogin(handle: Handler, options: Partial<HttpServiceAddress> = {}): Promise<WithService> {
  const server = await scriptedServer(handle);
  const clock = instantClock();
  const login = { email: 'a@example.org', password: 'secret' };
  const service = createHttpService({ baseUrl: server.url, login, clock, ...options });
  onTestFinished(async () => {
    await service.close();
    await server.close();
  });
  return { service, server, clock };
}

/** What a call came to: its value or its error. */
export async function outcome(call: Promise<unknown>): Promise<unknown> {
  return call.catch((error: unknown) => error);
}
