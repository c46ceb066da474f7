import {
  type CallOptions,
  type ChangeHint,
  type ContainerService,
  createLogReading,
  isServiceError,
  type LogCut,
  type Ref,
  type VolumeFiles,
} from '@sluice/client';
import { onAbort } from './on-abort.ts';

/**
 * An exiting owner rejects calls first and releases the service shortly after; this is the longest wait for the next
 * owner.
 */
const RELEASE_MS = 6_000;

/** The service as its current owner provides it. */
export interface CurrentService {
  readonly service: ContainerService;
  /** Aborted when that owner has released it; absent if that cannot happen. */
  readonly lost?: AbortSignal;
}

type Current = () => Promise<CurrentService>;

interface Delegate {
  readonly current: Current;
  /** Sends the request to the current owner and, if that one ends, to the next. Only for idempotent requests. */
  read<T>(ask: (service: ContainerService, options: CallOptions) => Promise<T>, options?: CallOptions): Promise<T>;
}

/**
 * A service whose implementation may be replaced while it is used: each call uses the result of `current` at that time,
 * and requests that only read are repeated if their owner is lost.
 */
export function createDelegatingService(options: {
  readonly current: Current;
  readonly watch: (listener: (hint: ChangeHint) => void) => (() => void) | undefined;
  readonly onFailure: NonNullable<ContainerService['onFailure']>;
  readonly close: () => Promise<void>;
}): ContainerService {
  const { current } = options;
  const delegate: Delegate = {
    current,
    read: async (ask, given) => {
      for (;;) {
        const held = await current();
        const call = untilLost(given, held);
        try {
          return await ask(held.service, call.options);
        } catch (error) {
          if (!(await isReplaced(error, { held, current }))) throw error;
        } finally {
          call.end();
        }
      }
    },
  };
  const now = async () => (await current()).service;
  const { read } = delegate;
  return {
    discovery: {
      listAccounts: (cluster, given) => read((service, asked) => service.discovery.listAccounts(cluster, asked), given),
      listInstanceTypes: (cluster, given) =>
        read((service, asked) => service.discovery.listInstanceTypes(cluster, asked), given),
      resolveImage: (scope, image, given) =>
        read(async (service, asked) => service.discovery.resolveImage?.(scope, image, asked), given),
    },
    containers: {
      create: async (...args) => (await now()).containers.create(...args),
      get: (ref, given) => read((service, asked) => service.containers.get(ref, asked), given),
      list: (scope, given) => readItems(delegate, (service) => service.containers.list(scope, given)),
      logs: (ref, given) => readLog(delegate, { ref, given }),
      openLog: (ref, given) => read(async (service, asked) => service.containers.openLog?.(ref, asked), given),
      cancel: async (...args) => (await now()).containers.cancel(...args),
      delete: async (...args) => (await now()).containers.delete(...args),
    },
    volumes: {
      create: async (...args) => (await now()).volumes.create(...args),
      list: (scope, given) => readItems(delegate, (service) => service.volumes.list(scope, given)),
      delete: async (...args) => (await now()).volumes.delete(...args),
      undelete: async (...args) => (await now()).volumes.undelete(...args),
      files: (ref: Ref, login) => delegatingFiles(delegate, (service) => service.volumes.files(ref, login)),
    },
    watch: options.watch,
    onFailure: options.onFailure,
    close: options.close,
  };
}

/** Options for a call that is aborted when its owner is lost. `end` must be called when the call has ended. */
function untilLost(given: CallOptions = {}, { lost }: CurrentService): { options: CallOptions; end: () => void } {
  if (lost === undefined) return { options: given, end: () => {} };
  const call = new AbortController();
  const forgetLost = onAbort(lost, () => call.abort(lost.reason));
  const { signal } = given;
  const forgetGiven = signal && onAbort(signal, () => call.abort(signal.reason));
  const end = () => {
    forgetLost();
    forgetGiven?.();
  };
  return { options: { ...given, signal: call.signal }, end };
}

/** Whether a call failed because its owner is exiting and another process has the service now. */
async function isReplaced(error: unknown, { held, current }: { held: CurrentService; current: Current }) {
  const { lost } = held;
  if (lost === undefined || !isServiceError(error, 'UNREACHABLE', 'NO_REPLY', 'ABORTED')) return false;
  if (!lost.aborted && !isServiceError(error, 'ABORTED')) await aborted(lost, RELEASE_MS);
  return lost.aborted && (await current()) !== held;
}

function aborted(signal: AbortSignal, withinMs: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => {
      forget();
      resolve();
    }, withinMs);
    const forget = onAbort(signal, () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

/** A list that has begun is not repeated: it would yield the same items again. */
async function* readItems<T>(
  { current }: Delegate,
  ask: (service: ContainerService) => AsyncIterable<T>,
): AsyncGenerator<T> {
  for (;;) {
    const held = await current();
    let isBegun = false;
    try {
      for await (const item of ask(held.service)) {
        isBegun = true;
        yield item;
      }
      return;
    } catch (error) {
      if (isBegun || !(await isReplaced(error, { held, current }))) throw error;
    }
  }
}

type LogOptions = NonNullable<Parameters<ContainerService['containers']['logs']>[1]>;

/**
 * A log only grows, except by a cut that the service tells, so the bytes already sent are skipped in the next attempt. With
 * `tail`, their position is unknown.
 */
async function* readLog({ current }: Delegate, asked: { ref: Ref; given: LogOptions | undefined }) {
  const reading = createLogReading();
  const onCut = (cut: LogCut | undefined) => {
    reading.note(cut);
    asked.given?.onCut?.(cut);
  };
  for (;;) {
    const held = await current();
    const call = untilLost(asked.given, held);
    reading.begin();
    try {
      const wanted = { ...asked.given, ...call.options, onCut };
      for await (const part of held.service.containers.logs(asked.ref, wanted)) {
        const rest = reading.take(part);
        if (rest.length > 0) yield rest;
      }
      return;
    } catch (error) {
      const isCut = asked.given?.tail !== undefined && reading.size > 0;
      if (isCut || !(await isReplaced(error, { held, current }))) throw error;
    } finally {
      call.end();
    }
  }
}

function delegatingFiles({ current, read }: Delegate, open: (service: ContainerService) => VolumeFiles): VolumeFiles {
  const now = async () => open((await current()).service);
  return {
    stat: (path) => read((service) => open(service).stat(path)),
    list: (path) => read((service) => open(service).list(path)),
    read: (path, range) => read((service) => open(service).read(path, range)),
    write: async (...args) => (await now()).write(...args),
    link: async (...args) => (await now()).link(...args),
    makeDirectory: (path) => read((service) => open(service).makeDirectory(path)),
    move: async (...args) => (await now()).move(...args),
    copy: async (...args) => (await now()).copy(...args),
    remove: (path) => read((service) => open(service).remove(path)),
  };
}
