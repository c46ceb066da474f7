import type { Principal } from '../accounts/principal.ts';

/** Where to listen. On a socket with `principal`, every process that can open the file acts as that principal and needs no token. */
export type ListenOptions =
  | { readonly host: string; readonly port: number }
  | { readonly socketPath: string; readonly principal?: Principal };

/** Where a listener is reached: for a TCP listener with the port that was really taken. */
export interface ListenAddress {
  /** The API's base URL, `http://localhost` for a socket. */
  readonly url: string;
  readonly socketPath?: string;
  readonly port?: number;
}

/** One address that the service is reached at. */
export interface Listener extends ListenAddress {
  /** Takes no more requests, ends followed logs, waits for the rest, and after a while cuts what is left. */
  close(): Promise<void>;
}
