import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

/** The secrets of a listener. They are valid until its process ends. */
export interface Sessions {
  /** Authenticates programs. */
  readonly token: string;
  /** The token of a link, which can be exchanged for one session. */
  createLinkToken(): string;
  /** Exchanges the token of a link for a session; undefined if it is unknown or was used. */
  exchange(linkToken: string): Session | undefined;
  isToken(given: string): boolean;
  isSession(given: Session): boolean;
}

/**
 * What a browser must know: the cookie, and the place below which it sees the pages. Browsers send a cookie to all ports of a
 * name, but to no other place; a history has the place, but no cookie.
 */
export interface Session {
  readonly cookie: string;
  readonly place: string;
}

const BYTES = 32;
/** The most browsers that are remembered; the oldest must use another link. */
const MAX_SESSIONS = 100;

/** Creates random secrets. Only their hashes are compared, so that no comparison shows how much of a guess was right. */
export function createSessions(): Sessions {
  const token = createSecret();
  const links = new Set<string>();
  const sessions = new Set<string>();
  return {
    token,
    createLinkToken() {
      const link = createSecret();
      links.add(hash(link));
      return link;
    },
    exchange(linkToken) {
      if (!links.delete(hash(linkToken))) return undefined;
      const session = { cookie: createSecret(), place: createSecret() };
      sessions.add(hashSession(session));
      const [oldest] = sessions;
      if (sessions.size > MAX_SESSIONS) sessions.delete(oldest!);
      return session;
    },
    isToken: (given) => timingSafeEqual(Buffer.from(hash(given)), Buffer.from(hash(token))),
    isSession: (given) => sessions.has(hashSession(given)),
  };
}

function createSecret(): string {
  return randomBytes(BYTES).toString('base64url');
}

function hashSession({ cookie, place }: Session): string {
  return hash(`${cookie} ${place}`);
}

function hash(secret: string): string {
  return createHash('sha256').update(secret).digest('base64');
}
