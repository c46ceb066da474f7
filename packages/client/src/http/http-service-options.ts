import type { Clock } from './clock.ts';

/** Where a v1rc1 service is and how to get in. */
export type HttpServiceOptions = HttpServiceAddress & Credentials;

export interface HttpServiceAddress {
  /** Address that `/api/v1rc1` is appended to; without user, password, query and fragment. */
  readonly baseUrl: string;
  /** Address that `/user/api/login` is appended to. Default `baseUrl`. */
  readonly authUrl?: string;
  /** Unix socket that everything of `baseUrl`'s origin goes through; the URL's host is then only a name. */
  readonly socketPath?: string;
  /** Response header that carries the token; deployments differ. Any case. Default `svc_token`. */
  readonly tokenHeader?: string;
  /** Certificates (PEM) to trust in place of the system's. */
  readonly ca?: string | readonly string[];
  readonly userAgent?: string;
  readonly timeouts?: Partial<Timeouts>;
  readonly clock?: Clock;
}

/** A ready token, or a login that gets one when it is needed and a new one when it has expired. */
export type Credentials =
  | { readonly token: string; readonly login?: never }
  | { readonly login: Login; readonly token?: never };

export interface Login {
  readonly email: string;
  /** The raw one; only its MD5 is sent, as the protocol wants it. */
  readonly password: string;
}

/** All in milliseconds. */
export interface Timeouts {
  /** Until a connection stands. Default 10,000. */
  readonly connectMs: number;
  /** Until the reply's headers are there. Default 60,000. */
  readonly replyMs: number;
  /** From the headers to the end of a reply that is not a stream; between two pieces of a stream. Default 60,000. */
  readonly bodyMs: number;
}

export const DEFAULT_TIMEOUTS: Timeouts = { connectMs: 10_000, replyMs: 60_000, bodyMs: 60_000 };
