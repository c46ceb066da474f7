import type { Clock } from './clock.ts';

/** The address of a v1rc1 service, and a token or login. */
export type HttpServiceOptions = HttpServiceAddress & Credentials;

/** The address of a v1rc1 service, and how to connect to it. */
export interface HttpServiceAddress {
  /** Address to which `/api/v1rc1` is appended; without user, password, query and fragment. */
  readonly baseUrl: string;
  /** Address to which `/user/api/login` is appended. Default `baseUrl`. */
  readonly authUrl?: string;
  /** Unix socket for all requests to the origin of `baseUrl`; the host of the URL is then only a name. */
  readonly socketPath?: string;
  /** Response header with the token, which differs between deployments; case-insensitive. Default `svc_token`. */
  readonly tokenHeader?: string;
  /** Certificates (PEM) to trust instead of those of the system. */
  readonly ca?: string | readonly string[];
  /** The `User-Agent` header of every request. */
  readonly userAgent?: string;
  /** Overrides single defaults. */
  readonly timeouts?: Partial<Timeouts>;
  /** Called for each request whose reply has not begun after 5 s, and every 5 s from then on. Default: nothing. */
  readonly onWait?: (wait: ServiceWait) => void;
  /** Called for each request when its reply has begun, or when it has failed. Default: nothing. */
  readonly onReply?: (reply: ServiceReply) => void;
  /** Default: `systemClock`. */
  readonly clock?: Clock;
}

/** A request that the service has not answered yet. */
export interface ServiceWait {
  /** Scheme, host and port of the service. */
  readonly origin: string;
  /** The call, as it is in messages after "could not". */
  readonly what: string;
  readonly waitedMs: number;
}

/** A request that the service has answered, or that has failed. It has no credentials and no content. */
export interface ServiceReply extends Pick<ServiceWait, 'origin' | 'what'> {
  /** The HTTP status; absent if there was no reply. */
  readonly status?: number;
  /** Until the headers of the reply. */
  readonly tookMs: number;
}

/** A token, or a login that obtains one when necessary and renews it after it has expired. */
export type Credentials =
  | { readonly token: string; readonly login?: never }
  | { readonly login: Login; readonly token?: never };

/** A user of the service. */
export interface Login {
  /** Identifies the user, as the protocol specifies. */
  readonly email: string;
  /** In plain text; only its MD5 digest is sent, as the protocol specifies. */
  readonly password: string;
}

/** All in milliseconds. */
export interface Timeouts {
  /** Until the connection is established. Default 10,000. */
  readonly connectMs: number;
  /** Until the headers of the reply have arrived. Default 60,000. */
  readonly replyMs: number;
  /** From the headers to the end of a reply; for a stream, between two chunks. Default 60,000. */
  readonly bodyMs: number;
}

/** The timeouts of a service without `timeouts`. */
export const DEFAULT_TIMEOUTS: Timeouts = { connectMs: 10_000, replyMs: 60_000, bodyMs: 60_000 };
