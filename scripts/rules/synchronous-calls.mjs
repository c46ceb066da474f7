const SOURCES = 'packages/service/src/';

/** Files of a cluster's storage: short calls directly after a check that the storage answers (`storage-access.ts`). */
const IN_STORAGE = [
  'calls/purge-volume.ts',
  'calls/volume-calls.ts',
  'containers/cluster.ts',
  'containers/log-notifier.ts',
  'containers/read-log.ts',
  'engines/limit-log.ts',
  'storage/storage-paths.ts',
  'volumes/files/charged-file.ts',
  'volumes/files/confined-tree.ts',
  'volumes/files/copy-tree.ts',
  'volumes/files/file-range.ts',
  'volumes/files/held-directory.ts',
  'volumes/files/inherit-owner.ts',
  'volumes/files/remove-tree.ts',
  'volumes/files/resolve-links.ts',
  'volumes/files/sub-path.ts',
  'volumes/files/sweep-temporaries.ts',
  'volumes/sftp/file-requests.ts',
  'volumes/sftp/tree-requests.ts',
  'volumes/volume-fault.ts',
  'volumes/webdav/get.ts',
  'volumes/webdav/property-store.ts',
  'volumes/webdav/proppatch.ts',
];

/** Files of this machine: the service's own root, its programs, sockets and certificates, and `/proc`. */
const ELSEWHERE = [
  'api/http-front.ts',
  'engines/native-program.ts',
  'proxy/local-authority.ts',
  'proxy/port-owner.ts',
  'proxy/read-listeners.ts',
  'service/service.ts',
  'store/free-space.ts',
  'store/lmdb-store.ts',
  'volumes/open-sftp.ts',
  'volumes/sweep-volumes.ts',
];

/** Data takes long to move, and closing a file may move it: never synchronous, not even in these modules. */
const DATA = /^(?:appendFile|copyFile|cp|fdatasync|fsync|ftruncate|read|readv|truncate|write|writev)Sync$/;
/** A log is cut directly after its size was read, so that as little as possible of what is appended meanwhile is lost. */
const CUTS = { 'engines/limit-log.ts': ['ftruncateSync'] };

/**
 * A synchronous call to a file blocks all requests of the service, for all clusters, and one to a network storage that does
 * not answer never returns. So only the modules above make them, and data is always moved in threads.
 */
export function check({ files }) {
  const known = new Set([...IN_STORAGE, ...ELSEWHERE]);
  return files
    .filter(({ path }) => path.startsWith(SOURCES) && path.endsWith('.ts'))
    .flatMap(({ path, lines }) => {
      const module = path.slice(SOURCES.length);
      const calls = importedCalls(lines.join('\n'));
      const fault = (message) => ({ file: path, line: 1, message });
      if (calls.length === 0) {
        return known.has(module)
          ? [fault('makes no synchronous call to a file: remove it from the list of the rule')]
          : [];
      }
      if (!known.has(module)) {
        const what = calls.join(', ');
        return [fault(`uses ${what}, which blocks all clusters while a storage does not answer: use node:fs/promises`)];
      }
      const moving = IN_STORAGE.includes(module)
        ? calls.filter((name) => DATA.test(name) && !CUTS[module]?.includes(name))
        : [];
      return moving.map((name) => fault(`uses ${name}: move data in threads, by \`StorageAccess.inThread\``));
    });
}

/** The names of imported functions that end with `Sync`; a whole module as `*`. */
function importedCalls(text) {
  const whole = /import\s+(?:\*\s+as\s+)?\w+\s+from\s*'(?:node:)?fs'/.test(text) ? ['*'] : [];
  const imports = text.matchAll(/import\s*\{([^}]*)\}\s*from\s*'(?:(?:node:)?fs|@sluice\/host-system)'/g);
  const names = [...imports].flatMap(([, list]) => list.match(/\b\w+Sync\b/g) ?? []);
  return [...whole, ...names];
}
