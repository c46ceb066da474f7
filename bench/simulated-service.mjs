// A service in memory, so that a bench measures the runner alone.

/**
 * Answers in the next loop turn, lists as many a page as are asked for, and has no hints. `control` as in inflight.mjs.
 */
export function openSimulated() {
  const live = new Map();
  const containers = new Map();
  const counts = { create: 0, get: 0, list: 0 };
  const ended = new Map();
  let runMs;
  const turn = (name) => {
    counts[name]++;
    return new Promise((resolve) => setImmediate(resolve));
  };
  const end = (id) => {
    live.delete(id);
    containers.get(id).phase = 'Succeeded';
    ended.set(id, Date.now());
  };
  const service = {
    discovery: { listAccounts: async () => [], listInstanceTypes: async () => [] },
    containers: {
      async create(scope, spec, { containerID: id }) {
        await turn('create');
        const createTime = new Date().toISOString();
        containers.set(id, { ...spec, ...scope, id, phase: 'Running', createTime, runID: id });
        live.set(id, true);
        if (runMs !== undefined) setTimeout(() => end(id), runMs);
        return { ...containers.get(id) };
      },
      async get({ id }) {
        await turn('get');
        return { ...containers.get(id) };
      },
      async *list(_scope, { all = false, pageSize = 100 }) {
        let left = 0;
        for (const id of (all ? containers : live).keys()) {
          if (left-- === 0) {
            await turn('list');
            left = pageSize - 1;
          }
          const { clusterID, accountID, phase, createTime } = containers.get(id);
          yield { id, clusterID, accountID, phase, createTime };
        }
        if (left <= 0) await turn('list');
      },
      async *logs() {},
      cancel: async () => {},
      delete: async () => {},
    },
    volumes: {},
    watch: () => undefined,
    close: async () => {},
  };
  return {
    service,
    requests: async () => ({ ...counts }),
    async control(name, value) {
      if (name === 'release') for (const id of [...live.keys()]) end(id);
      if (name === 'runMs') runMs = value;
      return name === 'ended' ? [...ended] : undefined;
    },
    close: async () => {},
  };
}
