import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type ContainerService, isServiceError, type Scope, ServiceError } from '@sluice/client';
import { openSocketPath } from '@sluice/host-system';
import { claimService, connectToOwner } from './claim-service.ts';
import { type CurrentService, createDelegatingService } from './delegating-service.ts';

/** Between two looks at a claim that changes hands just now. */
const CLAIM_AGAIN_MS = 20;
const CLAIM_ATTEMPTS = 200;
/** How long a closing owner waits for what is under way. */
const CLOSE_MS = 5_000;

/** The one cluster and account that an embedded service has; named here too, so that other processes need not load the service. */
const SCOPE: Scope = { clusterID: 'local', accountID: 'local' };

/** The embedded service of a home, in this process or reached in the one that owns it. */
export interface EmbeddedService {
  readonly service: ContainerService;
  readonly scope: Scope;
  /** What users should know of how it runs containers here. Empty where another process owns it: that one has said so. */
  readonly warnings: readonly string[];
  /** Containers run on; another `sluice` of this home takes the service over. */
  close(): Promise<void>;
}

export interface EmbeddedOptions {
  /** Cores that the service gives out while this process owns it; default: the machine's. */
  readonly cores?: number | undefined;
}

/** How this process reaches the service right now. */
interface Lease extends CurrentService {
  readonly owner: boolean;
  readonly warnings: readonly string[];
  release(): Promise<void>;
}

/**
 * Opens the service of a home. One process owns it and runs it; others reach it through a unix socket in the home, and
 * one of them takes over when the owner goes away. What only reads is then asked again; other calls that were under way
 * fail with `NO_REPLY`, as with any service. Throws where this machine cannot run it.
 */
export async function openEmbeddedService(home: string, options: EmbeddedOptions = {}): Promise<EmbeddedService> {
  const root = join(home, 'service');
  await mkdir(root, { recursive: true, mode: 0o700 });
  let closed = false;
  const socket = await openSocketPath(home, 'service.sock');
  const ownerSocket = await openSocketPath(home, 'visit.sock');
  const closeSockets = async () => {
    await socket.close();
    await ownerSocket.close();
  };
  const wanted: Wanted = { root, cores: options.cores, socketPath: socket.path, ownerPath: ownerSocket.path };
  let lease = await acquireLease(wanted).catch(async (error: unknown) => {
    await closeSockets();
    throw error;
  });
  let current: Promise<Lease> = Promise.resolve(lease);
  let hasFailed = false;
  const replace = () => {
    if (closed) return;
    hasFailed = false;
    current = acquireLease(wanted);
    current.then(follow, () => {
      hasFailed = true;
    });
  };
  const follow = (next: Lease) => {
    lease = next;
    // An owner can go while it is being followed.
    if (next.lost?.aborted) replace();
    else next.lost?.addEventListener('abort', replace);
  };
  follow(lease);

  const service = createDelegatingService({
    current: () => {
      // What kept this process from taking over, such as a full disk, may be over when it is asked again.
      if (hasFailed) replace();
      return current.catch(refuse);
    },
    watch: (listener) => (lease.owner ? lease.service.watch(listener) : undefined),
    close: async () => {},
  });
  return {
    service,
    scope: SCOPE,
    warnings: lease.warnings,
    close: async () => {
      closed = true;
      await current.then((last) => last.release()).catch(() => {});
      await closeSockets();
    },
  };
}

/** A take-over that failed: for the callers a service that is not there. */
function refuse(error: unknown): never {
  if (isServiceError(error)) throw error;
  throw new ServiceError('UNREACHABLE', `could not open the embedded service: ${(error as Error).message}`, {
    cause: error,
  });
}

/** Which service to hold, and what it offers where this process comes to own it. */
interface Wanted {
  readonly root: string;
  readonly cores: number | undefined;
  readonly socketPath: string;
  /** The socket on which the owner is asked to be reachable. */
  readonly ownerPath: string;
}

async function acquireLease(wanted: Wanted): Promise<Lease> {
  const { root } = wanted;
  for (let attempt = 0; attempt < CLAIM_ATTEMPTS; attempt++) {
    // To connect costs less than to try the lock, which starts a program.
    const lease = (await connectToOwnerService(wanted)) ?? (await own(wanted));
    if (lease !== undefined) return lease;
    await delay(CLAIM_AGAIN_MS);
  }
  throw new ServiceError(
    'UNREACHABLE',
    `could not open the embedded service in ${root}: another process has it open and does not answer`,
  );
}

async function own({ root, cores, socketPath, ownerPath }: Wanted): Promise<Lease | undefined> {
  let makeReachable = (): Promise<void> => Promise.reject(new Error('not open yet'));
  const opened: { resolve: () => void; promise: Promise<void> } = createSignal();
  const claim = await claimService({ directory: root, ownerPath }, async () => {
    await opened.promise;
    await makeReachable();
  });
  if (claim === undefined) return undefined;
  try {
    const { openOwnService } = await import('./own-service.ts');
    const own = await openOwnService(root, { cores });
    makeReachable = once(() => own.listen(socketPath));
    opened.resolve();
    return {
      service: own.service,
      owner: true,
      warnings: own.warnings,
      release: async () => {
        await Promise.race([own.close(), delay(CLOSE_MS, undefined, { ref: false })]);
        await claim.release();
      },
    };
  } catch (error) {
    await claim.release();
    throw error;
  }
}

async function connectToOwnerService({ socketPath, ownerPath }: Wanted): Promise<Lease | undefined> {
  const connection = await connectToOwner(ownerPath);
  if (connection === undefined) return undefined;
  const { openOwnerService } = await import('./open-owner-service.ts');
  const service = openOwnerService(socketPath);
  const lost = new AbortController();
  connection.onOwnerGone(() => lost.abort());
  return {
    service,
    owner: false,
    warnings: [],
    lost: lost.signal,
    release: async () => {
      connection.close();
      await service.close();
    },
  };
}

/** Does the work once; where it fails, whoever asks next has it done again. */
function once(work: () => Promise<void>): () => Promise<void> {
  let done: Promise<void> | undefined;
  return () => {
    done ??= work().catch((error: unknown) => {
      done = undefined;
      throw error;
    });
    return done;
  };
}

function createSignal(): { resolve: () => void; promise: Promise<void> } {
  let resolve = () => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { resolve, promise };
}
