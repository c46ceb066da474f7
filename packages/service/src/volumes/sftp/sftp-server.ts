import { type AddressInfo, createServer, type Socket } from 'node:net';
import { systemErrorCode } from '@sluice/host-system';
import ssh2, { type AuthContext, type Connection, type ServerChannel, type Session } from 'ssh2';
import { openConfinedTree } from '../files/confined-tree.ts';
import { createTransferThrottle, type TransferThrottle } from '../transfer-throttle.ts';
import { type VolumeAccess, type VolumeSession, volumeKey } from '../volume-access.ts';
import { MalformedPacket } from './sftp-packet.ts';
import { serveSftp } from './sftp-session.ts';
import { UnauthenticatedConnections } from './unauthenticated-connections.ts';

/** How to identify the server, limit logins and report errors. */
export interface SftpServerOptions {
  /**
   * Private key of the host in PEM or OpenSSH format, for example from `generateHostKey`. It must be kept, because clients
   * remember it.
   */
  readonly hostKey: string;
  /** Shared with WebDAV, so that failed logins of both protocols count together. Default: its own. */
  readonly throttle?: TransferThrottle;
  /** Receives errors that are not caused by clients. */
  readonly onError?: (error: unknown) => void;
}

/** An SFTP server that does nothing before `listen`. */
export interface SftpServer {
  listen(at: { host: string; port: number }): Promise<{ host: string; port: number }>;
  /** Stops listening and closes all connections. */
  close(): Promise<void>;
}

/** Timeout and number of attempts for the login. */
const LOGIN_MS = 60_000;
const MAX_ATTEMPTS = 6;
/** Sessions per volume, over all connections. Each session uses memory and up to 256 descriptors. */
const MAX_SESSIONS = 64;
/** Unused channels per connection. */
const MAX_IDLE_CHANNELS = 64;

/**
 * Only ciphers that Node implements natively: OpenSSH's preferred chacha20-poly1305 runs in the JavaScript of ssh2, at a
 * third of the speed.
 */
const CIPHERS = ['aes128-gcm@openssh.com', 'aes256-gcm@openssh.com', 'aes128-ctr', 'aes256-ctr'] as const;

/**
 * OpenSSH's server reads the two paths of SYMLINK in reverse order. Some clients always send them so, others only if the
 * server's name begins with OpenSSH; with this name they all agree.
 */
const IDENT = 'OpenSSH_compatible-sluice';

/**
 * Generates an Ed25519 host key. ssh2 cannot read one of 256 keys that it generates (those whose public key begins with a
 * zero byte), so these are skipped.
 */
export function generateHostKey(): string {
  for (;;) {
    const key = ssh2.utils.generateKeyPairSync('ed25519').private;
    if (!(ssh2.utils.parseKey(key) instanceof Error)) return key;
  }
}

/** An SFTP server for the volumes of `access`: each login sees only its volume, as `/`. No shell, no scp. */
export function createSftpServer(access: VolumeAccess, options: SftpServerOptions): SftpServer {
  const throttle = options.throttle ?? createTransferThrottle();
  const onError = options.onError ?? (() => undefined);
  const sockets = new Map<Socket, TransferConnection>();
  const sessions = new Map<string, number>();
  const ssh = new ssh2.Server(
    {
      ident: IDENT,
      hostKeys: [options.hostKey],
      algorithms: { cipher: [...CIPHERS], compress: ['none'] },
      keepaliveInterval: 60_000,
    },
    (connection, { ip, port }) => {
      // Called after the client's identification, without the socket: the connection is found by the client's address.
      const found = [...sockets].find(([socket]) => socket.remoteAddress === ip && socket.remotePort === port);
      if (found === undefined) connection.end();
      else serveConnection(connection, { client: found[1], access, throttle, sessions, onError });
    },
  );
  const tcp = createConnectionServer(sockets, (socket) => ssh.injectSocket(socket));
  const forget = access.onRevoked((volume) => {
    for (const client of sockets.values()) {
      if (client.volume !== undefined && volumeKey(client.volume) === volumeKey(volume)) client.cut();
    }
  });

  return {
    listen: ({ host, port }) =>
      new Promise((resolve, reject) => {
        tcp.once('error', reject);
        tcp.listen(port, host, () => {
          tcp.off('error', reject);
          tcp.on('error', onError);
          const address = tcp.address() as AddressInfo;
          resolve({ host: address.address, port: address.port });
        });
      }),
    close: () =>
      new Promise((resolve) => {
        forget();
        tcp.close(() => resolve());
        for (const socket of sockets.keys()) socket.destroy();
      }),
  };
}

/** Tracks connections in `sockets` until they close, and limits those that have not logged in. */
function createConnectionServer(sockets: Map<Socket, TransferConnection>, onConnection: (socket: Socket) => void) {
  const unauthenticated = new UnauthenticatedConnections();
  return createServer({ noDelay: true }, (socket) => {
    const address = socket.remoteAddress ?? '';
    const cut = () => socket.destroy();
    const leave = unauthenticated.add({ address, cut });
    if (leave === undefined) {
      socket.destroy();
      return;
    }
    const timer = setTimeout(cut, LOGIN_MS);
    const markLoggedIn = () => {
      clearTimeout(timer);
      leave();
    };
    sockets.set(socket, { address, volume: undefined, cut, markLoggedIn });
    socket.once('close', () => {
      markLoggedIn();
      sockets.delete(socket);
    });
    onConnection(socket);
  });
}

/** One TCP connection. */
interface TransferConnection {
  readonly address: string;
  /** Undefined until the login. */
  volume: VolumeSession | undefined;
  readonly cut: () => void;
  /** Call after the login: ends the login timeout, and removes it from the unauthenticated connections. */
  readonly markLoggedIn: () => void;
}

interface ConnectionContext {
  readonly client: TransferConnection;
  readonly access: VolumeAccess;
  readonly throttle: TransferThrottle;
  /** Number of sessions by volume key. */
  readonly sessions: Map<string, number>;
  readonly onError: (error: unknown) => void;
}

function serveConnection(connection: Connection, context: ConnectionContext): void {
  const { client } = context;
  let attempts = 0;
  connection.on('authentication', (attempt) => {
    if (attempt.method === 'password') attempts += 1;
    if (attempts > MAX_ATTEMPTS) {
      client.cut();
      return;
    }
    logIn(attempt, context).then(
      (session) => {
        if (session === undefined) {
          attempt.reject(['password']);
          return;
        }
        client.volume = session;
        client.markLoggedIn();
        attempt.accept();
      },
      (error: unknown) => {
        context.onError(error);
        attempt.reject(['password']);
      },
    );
  });
  // Broken connections and failed handshakes emit errors; without a listener they would end the process.
  connection.on('error', () => client.cut());
  let idle = 0;
  connection.on('session', (accept, reject) => {
    if (idle >= MAX_IDLE_CHANNELS) {
      reject();
      return;
    }
    idle += 1;
    serveSession(accept(), context, () => {
      idle -= 1;
    });
  });
}

async function logIn(attempt: AuthContext, context: ConnectionContext): Promise<VolumeSession | undefined> {
  if (attempt.method !== 'password') return undefined;
  const { access, throttle } = context;
  const { address } = context.client;
  if (throttle.pauseMs(address, attempt.username) > 0) return undefined;
  const session = await access.authenticate(attempt.username, attempt.password);
  if (session === undefined) throttle.failed(address, attempt.username);
  else throttle.succeeded(address, attempt.username);
  return session;
}

function serveSession(session: Session, context: ConnectionContext, onUse: () => void): void {
  // Not the event `sftp`: ssh2's server for it announces no extensions and reads faster than the client receives.
  session.on('subsystem', (accept, reject, { name }) => {
    const { volume } = context.client;
    const isTaken = volume !== undefined && (context.sessions.get(volumeKey(volume)) ?? 0) >= MAX_SESSIONS;
    if (name !== 'sftp' || volume === undefined || isTaken) {
      reject();
      return;
    }
    session.removeAllListeners('subsystem');
    onUse();
    serveVolume(accept(), volume, context).catch((error: unknown) => context.onError(error));
  });
}

async function serveVolume(channel: ServerChannel, volume: VolumeSession, context: ConnectionContext): Promise<void> {
  const { sessions } = context;
  const key = volumeKey(volume);
  sessions.set(key, (sessions.get(key) ?? 0) + 1);
  channel.on('error', () => undefined);
  try {
    if ((await volume.storage?.fault()) !== undefined) return context.client.cut();
    await serveSftp(channel, openConfinedTree(volume.root, volume), { onError: context.onError });
    channel.exit(0);
    channel.end();
  } catch (error) {
    if (!(error instanceof MalformedPacket) && !isDisconnection(error)) context.onError(error);
    context.client.cut();
  } finally {
    const left = (sessions.get(key) ?? 1) - 1;
    if (left > 0) sessions.set(key, left);
    else sessions.delete(key);
  }
}

/** Whether the client closed the connection, which is not an error. */
function isDisconnection(error: unknown): boolean {
  const code = systemErrorCode(error);
  return code === 'ERR_STREAM_PREMATURE_CLOSE' || code === 'ECONNRESET' || code === 'EPIPE';
}
