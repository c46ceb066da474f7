import { type CallOptions, type ContainerService, type LogCut, ServiceError } from '@sluice/client';
import { expect, onTestFinished, test } from 'vitest';
import { type CurrentService, createDelegatingService } from '../../src/connect/delegating-service.ts';

const REF = { clusterID: 'local', accountID: 'local', id: 'c' };

/** Holders of a service one after the other; each can be taken away. */
function createHolders(services: readonly Partial<ContainerService>[]) {
  const holders = services.map((service) => ({ service: service as ContainerService, lost: new AbortController() }));
  let at = 0;
  const held = new Map<number, CurrentService>();
  return {
    lose() {
      const leaving = holders[at++];
      leaving?.lost.abort();
    },
    service: createDelegatingService({
      current: async () => {
        const { service, lost } = holders[at]!;
        if (!held.has(at)) held.set(at, { service, lost: lost.signal });
        return held.get(at)!;
      },
      watch: () => undefined,
      onFailure: () => () => {},
      close: async () => {},
    }),
  };
}

type LogOptions = CallOptions & { readonly onCut?: (cut: LogCut | undefined) => void };

function withLogs(logs: (options?: LogOptions) => AsyncIterable<Uint8Array>): Partial<ContainerService> {
  return { containers: { logs: (_: unknown, options?: LogOptions) => logs(options) } } as Partial<ContainerService>;
}

async function* pieces(...texts: string[]) {
  for (const text of texts) yield new TextEncoder().encode(text);
}

async function read(log: AsyncIterable<Uint8Array>): Promise<string> {
  let text = '';
  for await (const part of log) text += new TextDecoder().decode(part);
  return text;
}

test('createDelegatingService reads on in a log, where it was, from the one that has the service next', async () => {
  const holders = createHolders([
    withLogs(async function* () {
      yield* pieces('one\ntw');
      holders.lose();
      throw new ServiceError('NO_REPLY', 'broke off');
    }),
    withLogs(() => pieces('one\n', 'two\nthree\n')),
  ]);
  expect(await read(holders.service.containers.logs(REF))).toBe('one\ntwo\nthree\n');
});

test('createDelegatingService goes on at the cut of a log that was cut while nobody held the service', async () => {
  const holders = createHolders([
    withLogs(async function* (options) {
      options?.onCut?.(undefined);
      yield* pieces('one\ntwo\nthree\n');
      holders.lose();
      throw new ServiceError('NO_REPLY', 'broke off');
    }),
    withLogs(async function* (options) {
      options?.onCut?.({ start: 8, id: '1' });
      yield* pieces('one\ntwo\n', '\n[sluice] left out\nnine\n');
    }),
  ]);
  const cuts: (LogCut | undefined)[] = [];
  const log = holders.service.containers.logs(REF, { onCut: (cut) => void cuts.push(cut) });
  expect(await read(log)).toBe('one\ntwo\nthree\n\n[sluice] left out\nnine\n');
  expect(cuts).toEqual([undefined, { start: 8, id: '1' }]);
});

test('createDelegatingService waits for a holder to go that rejects already, and ends what hangs on one that has gone', async () => {
  const hanging = (options?: CallOptions) =>
    new Promise<never>((_, reject) => {
      options?.signal?.addEventListener('abort', () => reject(new ServiceError('ABORTED', 'aborted')));
      holders.lose();
    });
  const get = (answer: (options?: CallOptions) => Promise<unknown>) =>
    ({
      containers: { get: (_: unknown, options?: CallOptions) => answer(options) },
    }) as unknown as Partial<ContainerService>;
  const holders = createHolders([
    get(async () => {
      setImmediate(() => holders.lose());
      throw new ServiceError('UNREACHABLE', 'rejected');
    }),
    get(hanging),
    get(async () => 'found'),
  ]);
  expect(await holders.service.containers.get(REF)).toBe('found');
});

test('createDelegatingService leaves to its caller what may act, and a tail whose beginning is gone', async () => {
  const broken = async () => {
    holders.lose();
    throw new ServiceError('NO_REPLY', 'broke off');
  };
  const holders = createHolders([
    { containers: { cancel: broken } } as unknown as Partial<ContainerService>,
    withLogs(async function* () {
      yield* pieces('last');
      await broken();
    }),
    withLogs(() => pieces('last\n')),
  ]);
  await expect(holders.service.containers.cancel(REF)).rejects.toThrow('broke off');
  await expect(read(holders.service.containers.logs(REF, { tail: 1 }))).rejects.toThrow('broke off');
});

test('createDelegatingService causes no warning about listeners, however many calls wait for one owner', async () => {
  const warnings: string[] = [];
  const warned = ({ message }: Error) => warnings.push(message);
  process.on('warning', warned);
  onTestFinished(() => void process.off('warning', warned));
  let waiting = 0;
  // As the HTTP client does it: one listener while a request waits.
  const hang = (options?: CallOptions) =>
    new Promise<never>((_, reject) => {
      waiting += 1;
      const abort = () => reject(new ServiceError('ABORTED', 'aborted'));
      options?.signal?.addEventListener('abort', abort, { once: true });
    });
  const reject = async () => {
    waiting += 1;
    throw new ServiceError('UNREACHABLE', 'rejected');
  };
  async function* silent(options?: CallOptions) {
    yield await hang(options);
  }
  const holders = createHolders([
    {
      ...withLogs(silent),
      discovery: { listAccounts: reject },
    } as unknown as Partial<ContainerService>,
    {
      ...withLogs(() => pieces('log')),
      discovery: { listAccounts: async () => [] },
    } as unknown as Partial<ContainerService>,
  ]);
  const { signal } = new AbortController();
  const calls = Array.from({ length: 150 }, () => [
    read(holders.service.containers.logs(REF, { follow: true })),
    read(holders.service.containers.logs(REF, { follow: true, signal })),
    holders.service.discovery.listAccounts('local'),
  ]).flat();
  await expect.poll(() => waiting).toBe(calls.length);
  holders.lose();
  expect(new Set((await Promise.all(calls)).flat())).toEqual(new Set(['log']));
  // Warnings are emitted in a later turn.
  await new Promise(setImmediate);
  expect(warnings).toEqual([]);
});

test('createDelegatingService forgets a call that has ended: neither its program nor a lost owner reaches it', async () => {
  const aborted: string[] = [];
  const ending = (name: string, options?: CallOptions) =>
    options?.signal?.addEventListener('abort', () => aborted.push(name), { once: true });
  const holders = createHolders([
    withLogs(async function* (options) {
      ending('ended', options);
      yield* pieces('log');
    }),
  ]);
  const program = new AbortController();
  await read(holders.service.containers.logs(REF));
  await read(holders.service.containers.logs(REF, { signal: program.signal }));
  program.abort();
  holders.lose();
  expect(aborted).toEqual([]);
});
