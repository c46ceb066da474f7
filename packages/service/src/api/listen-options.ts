import type { Principal } from '../accounts/principal.ts';

/** Where to listen. On a socket with `principal`, every process that can open the file acts as that principal and needs no token. */
export type ListenOptions =
  | { readonly host: string; readonly port: number }
  | { readonly socketPath: string; readonly principal?: Principal };

/** Where clients reach a listener. `port` is the actual port, also if port 0 was requested. */
export interface ListenAddress {
  /** The API's base URL, `http://localhost` for a socket. */
  readonly url: string;
  /** Only for a socket. */
  readonly socketPath?: string;
  /** Only for a TCP listener. */
  readonly port?: number;
}

/** An open listener of a service. */
export interface Listener extends ListenAddress {
  /** Stops accepting requests, ends followed logs, waits up to 10 s for other requests, then ends those too. */
  close(): Promise<void>;
}
