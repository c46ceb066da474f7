import {
  type CallOptions,
  type ContainerService,
  type Ref,
  ServiceError,
  type VolumeFiles,
  type VolumeService,
} from '@sluice/client';
import type { Principal } from '../accounts/principal.ts';
import { itemOf } from '../containers/list-containers.ts';
import { createDirectFiles } from '../volumes/files/direct-files.ts';
import type { OpenedVolume, ServiceCalls } from './service-calls.ts';

/** The service for a caller in this process, acting as `principal`. Calls behave, and fail, as those over HTTP. */
export function createInProcessService(calls: ServiceCalls, principal: Principal): ContainerService {
  return {
    discovery: createDiscovery(calls, principal),
    containers: createContainers(calls, principal),
    volumes: createVolumes(calls, principal),
    watch: (listener) => calls.watch(principal, listener),
    close: async () => {},
  };
}

function createDiscovery(calls: ServiceCalls, principal: Principal): ContainerService['discovery'] {
  return {
    async listAccounts(clusterID, options) {
      rejectAborted(options);
      return calls.listAccounts(principal, clusterID);
    },
    async listInstanceTypes(clusterID, options) {
      rejectAborted(options);
      return calls.listInstanceTypes(principal, clusterID);
    },
    async resolveImage(scope, image, options = {}) {
      rejectAborted(options);
      return calls.resolveImage(principal, scope, { image, fresh: options.fresh });
    },
  };
}

function createContainers(calls: ServiceCalls, principal: Principal): ContainerService['containers'] {
  return {
    async create(scope, spec, options = {}) {
      rejectAborted(options);
      return calls.containers.create(principal, scope, {
        spec,
        ...(options.containerID === undefined ? {} : { containerID: options.containerID }),
      });
    },
    async get(ref, options) {
      rejectAborted(options);
      return calls.containers.get(principal, ref);
    },
    async *list(scope, { all, pageSize, signal } = {}) {
      for (let token = ''; ; ) {
        rejectAborted({ signal });
        const page = await calls.containers.list(principal, scope, { all, pageSize, token });
        for (const listed of page.containers) yield itemOf(listed);
        token = page.nextPageToken;
        if (token === '') return;
      }
    },
    async *logs(ref, options = {}) {
      rejectAborted(options);
      const { onCut, ...wanted } = options;
      const log = await calls.containers.logs(principal, ref, wanted);
      onCut?.(log.cut);
      yield* log;
      rejectAborted(options);
    },
    async openLog(ref, options) {
      rejectAborted(options);
      return calls.containers.openLog(principal, ref);
    },
    async cancel(ref, options) {
      rejectAborted(options);
      await calls.containers.cancel(principal, ref);
    },
    async delete(ref, options) {
      rejectAborted(options);
      await calls.containers.delete(principal, ref);
    },
  };
}

function createVolumes(calls: ServiceCalls, principal: Principal): ContainerService['volumes'] {
  return {
    async create(scope, { volumeID, transfer, signal } = {}) {
      rejectAborted({ signal });
      return calls.volumes.create(principal, scope, {
        ...(volumeID === undefined ? {} : { volumeID }),
        transfer: transfer === true,
        address: calls.localAddress,
      });
    },
    async *list(scope, { pageSize, signal } = {}) {
      for (let token = ''; ; ) {
        rejectAborted({ signal });
        const page = await calls.volumes.list(principal, scope, { pageSize, token });
        yield* page.volumes;
        token = page.nextPageToken;
        if (token === '') return;
      }
    },
    async delete(ref, { force, signal } = {}) {
      rejectAborted({ signal });
      await calls.volumes.delete(principal, ref, { force: force === true });
    },
    async undelete(ref, options) {
      rejectAborted(options);
      await calls.volumes.undelete(principal, ref);
    },
    files: (ref, login) => guardedFiles(calls, ref, login),
  };
}

function rejectAborted(options: { readonly signal?: CallOptions['signal'] | undefined } | undefined): void {
  if (options?.signal?.aborted !== true) return;
  throw new ServiceError('ABORTED', "could not continue because the caller's signal was aborted", {
    cause: options.signal.reason,
  });
}

/** The files of a volume. Each operation checks the login again, since the volume may have been deleted. */
function guardedFiles(calls: ServiceCalls, ref: Ref, login: VolumeService): VolumeFiles {
  let opened: { readonly volume: OpenedVolume; readonly files: VolumeFiles } | undefined;
  const files = async () => {
    const volume = await calls.openVolume(ref, login);
    if (opened?.volume.root !== volume.root || opened.volume.space !== volume.space)
      opened = { volume, files: createDirectFiles(volume.root, volume) };
    return opened.files;
  };
  return {
    stat: async (path) => (await files()).stat(path),
    list: async (path) => (await files()).list(path),
    read: async (path, range) => (await files()).read(path, range),
    write: async (path, body, options) => (await files()).write(path, body, options),
    link: async (path, target) => (await files()).link(path, target),
    makeDirectory: async (path) => (await files()).makeDirectory(path),
    move: async (from, to) => (await files()).move(from, to),
    copy: async (from, to) => (await files()).copy(from, to),
    remove: async (path) => (await files()).remove(path),
  };
}
