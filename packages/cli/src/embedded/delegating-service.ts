import type { ChangeHint, ContainerService, Ref, VolumeFiles } from '@sluice/client';

/** A service whose implementation may be replaced while it is used: each call goes to the one that `current` gives then. */
export function createDelegatingService(options: {
  readonly current: () => Promise<ContainerService>;
  readonly watch: (listener: (hint: ChangeHint) => void) => (() => void) | undefined;
  readonly close: () => Promise<void>;
}): ContainerService {
  const { current } = options;
  return {
    discovery: {
      listAccounts: async (...args) => (await current()).discovery.listAccounts(...args),
      listInstanceTypes: async (...args) => (await current()).discovery.listInstanceTypes(...args),
    },
    containers: {
      create: async (...args) => (await current()).containers.create(...args),
      get: async (...args) => (await current()).containers.get(...args),
      list: async function* (...args) {
        yield* (await current()).containers.list(...args);
      },
      logs: async function* (...args) {
        yield* (await current()).containers.logs(...args);
      },
      cancel: async (...args) => (await current()).containers.cancel(...args),
      delete: async (...args) => (await current()).containers.delete(...args),
    },
    volumes: {
      create: async (...args) => (await current()).volumes.create(...args),
      list: async function* (...args) {
        yield* (await current()).volumes.list(...args);
      },
      delete: async (...args) => (await current()).volumes.delete(...args),
      undelete: async (...args) => (await current()).volumes.undelete(...args),
      files: (ref: Ref, login) => delegatingFiles(async () => (await current()).volumes.files(ref, login)),
    },
    watch: options.watch,
    close: options.close,
  };
}

function delegatingFiles(current: () => Promise<VolumeFiles>): VolumeFiles {
  return {
    stat: async (...args) => (await current()).stat(...args),
    list: async (...args) => (await current()).list(...args),
    read: async (...args) => (await current()).read(...args),
    write: async (...args) => (await current()).write(...args),
    makeDirectory: async (...args) => (await current()).makeDirectory(...args),
    move: async (...args) => (await current()).move(...args),
    remove: async (...args) => (await current()).remove(...args),
  };
}
