import type { ContainerService, VolumeFiles } from '@sluice/client';
import type { AppendFile, Claim, Clock, Disk } from '@sluice/home';

/** One runner process, which can be killed between any two things it does. */
export interface SimulatedProcess {
  readonly clock: Clock;
  readonly disk: Disk;
  readonly service: ContainerService;
  readonly alive: boolean;
  /** Resolves when the process is killed. */
  readonly died: Promise<undefined>;
  /** Things done so far. */
  readonly operations: number;
  /** Nothing that the process waits for ever comes, and nothing that it does has an effect. */
  kill(): void;
}

export interface ProcessOptions {
  readonly clock: Clock;
  readonly disk: Disk;
  readonly service: ContainerService;
  /** Called around each operation, numbered from 1; it may kill the process or spoil the disk. */
  readonly onOperation?: (number: number, when: 'before' | 'after') => void;
}

const NEVER = new Promise<never>(() => {});

export function createProcess(options: ProcessOptions): SimulatedProcess {
  const { clock, disk, service, onOperation } = options;
  const claims = new Set<Claim>();
  let alive = true;
  let operations = 0;
  /** The process's time begins with what the machine's clock shows. */
  const offset = clock.wall() - clock.now();
  let die: (nothing: undefined) => void;
  const died = new Promise<undefined>((resolve) => {
    die = resolve;
  });

  function kill(): void {
    if (!alive) return;
    alive = false;
    for (const claim of claims) void claim.release();
    die(undefined);
  }

  /** Counts an operation. Undefined: the process is dead, or dies now. */
  function begin(): number | undefined {
    if (!alive) return undefined;
    const number = ++operations;
    onOperation?.(number, 'before');
    return alive ? number : undefined;
  }

  async function act<T>(operation: () => Promise<T>): Promise<T> {
    const number = begin();
    if (number === undefined) return NEVER;
    try {
      const result = operation();
      onOperation?.(number, 'after');
      const value = await result;
      return alive ? value : NEVER;
    } catch (error) {
      if (!alive) return NEVER;
      throw error;
    }
  }

  function actNow<T>(operation: () => T): T {
    const number = begin();
    if (number === undefined) throw new Error('the process is dead');
    const value = operation();
    onOperation?.(number, 'after');
    if (!alive) throw new Error('the process is dead');
    return value;
  }

  async function* stream<T>(open: () => AsyncIterable<T>): AsyncIterable<T> {
    if (begin() === undefined) await NEVER;
    for await (const item of open()) {
      if (!alive) await NEVER;
      yield item;
    }
    if (!alive) await NEVER;
  }

  return {
    clock: {
      now: () => clock.now() + offset,
      wall: () => clock.wall(),
      boot: () => clock.boot(),
      setTimer: (at, callback) => clock.setTimer(at - offset, () => void (alive && callback())),
      defer: (callback) => clock.defer(() => void (alive && callback())),
    },
    disk: {
      read: (path) => act(() => disk.read(path)),
      readPart: (path, part) => act(() => disk.readPart(path, part)),
      readNow: (path) => disk.readNow(path),
      list: (path) => act(() => disk.list(path)),
      replace: (path, bytes) => act(() => disk.replace(path, bytes)),
      create: (path, bytes) => act(() => disk.create(path, bytes)),
      extend: (path, bytes) => act(() => disk.extend(path, bytes)),
      measure: (path) => act(() => disk.measure(path)),
      free: (path) => act(() => disk.free(path)),
      remove: (path) => act(() => disk.remove(path)),
      watch: (directory, listener) => disk.watch(directory, () => void (alive && listener())),
      ask: (directory, line) => act(() => disk.ask(directory, line)),
      async append(path, size) {
        const file = await act(() => disk.append(path, size));
        return guardFile(file, { act, actNow });
      },
      async claim(directory, listener) {
        const claim = await act(async () => {
          const taken = await disk.claim(directory, listener);
          if (taken && alive) claims.add(taken);
          else if (taken) void taken.release();
          return taken;
        });
        return claim;
      },
    },
    service: {
      discovery: {
        listAccounts: (cluster) => act(() => service.discovery.listAccounts(cluster)),
        // Asked once, before anything is begun: no operation, so that kept scenarios die where they did.
        listInstanceTypes: (cluster) =>
          cluster === '-'
            ? act(() => service.discovery.listInstanceTypes(cluster))
            : service.discovery.listInstanceTypes(cluster),
      },
      containers: {
        create: (scope, spec, more) => act(() => service.containers.create(scope, spec, more)),
        get: (ref) => act(() => service.containers.get(ref)),
        list: (scope, more) => stream(() => service.containers.list(scope, more)),
        logs: (ref, more) => stream(() => service.containers.logs(ref, more)),
        cancel: (ref) => act(() => service.containers.cancel(ref)),
        delete: (ref) => act(() => service.containers.delete(ref)),
      },
      volumes: {
        create: (scope, more) => act(() => service.volumes.create(scope, more)),
        list: (scope, more) => stream(() => service.volumes.list(scope, more)),
        delete: (ref, more) => act(() => service.volumes.delete(ref, more)),
        undelete: (ref) => act(() => service.volumes.undelete(ref)),
        files: (ref, login) => guardFiles(service.volumes.files(ref, login), act),
      },
      watch: (listener) => service.watch((hint) => void (alive && listener(hint))),
      close: async () => {},
    },
    get alive() {
      return alive;
    },
    died,
    get operations() {
      return operations;
    },
    kill,
  };
}

type Act = <T>(operation: () => Promise<T>) => Promise<T>;

function guardFile(file: AppendFile, { act, actNow }: { act: Act; actNow: <T>(operation: () => T) => T }): AppendFile {
  return {
    write: (bytes) => actNow(() => file.write(bytes)),
    sync: () => act(() => file.sync()),
    close: () => act(() => file.close()),
  };
}

function guardFiles(files: VolumeFiles, act: Act): VolumeFiles {
  return {
    stat: (path) => act(() => files.stat(path)),
    list: (path) => act(() => files.list(path)),
    read: (path, range) => act(() => files.read(path, range)),
    write: (path, body, more) => act(() => files.write(path, body, more)),
    link: (path, target) => act(() => files.link(path, target)),
    makeDirectory: (path) => act(() => files.makeDirectory(path)),
    move: (from, to) => act(() => files.move(from, to)),
    copy: (from, to) => act(() => files.copy(from, to)),
    remove: (path) => act(() => files.remove(path)),
  };
}
