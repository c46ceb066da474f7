import type { ListenAddress, ListenOptions } from '../service.ts';
import type { ServiceCore } from '../service-core.ts';

export interface HttpListener {
  readonly address: ListenAddress;
  close(): Promise<void>;
}

/** Serves the API at an address. */
export async function listenHttp(core: ServiceCore, _options: ListenOptions): Promise<HttpListener> {
  throw new Error(`could not listen for the service at ${core.config.root}`);
}
