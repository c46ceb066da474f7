/** Names in reports of the version that made the samples, with their present names. */
const NAMES: Readonly<Record<string, string>> = {
  key: 'cell',
  state: 'status',
  result: 'status',
  reason: 'message',
  class: 'reason',
  containerID: 'containerId',
  clusterID: 'clusterId',
  accountID: 'accountId',
  volumeID: 'volumeId',
  askedAt: 'requestedAt',
  from: 'readyAt',
  to: 'endedAt',
  waited: 'waitedMs',
};

/** What the present version must say of a run of which an earlier one said this. */
export function renameReport(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(renameReport);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => {
      const name = NAMES[key] ?? key;
      const isTime = typeof item === 'number' && name.endsWith('At');
      // That version reported an attempt also of a cell without a container.
      if (name === 'attempts' && item === 1 && !('containerID' in value)) return [name, 0];
      return [name, isTime ? new Date(item).toISOString() : renameReport(item)];
    }),
  );
}
