/** What a run can have spent its time on, in the order in which it is shown: its name, and which time counts for it. */
export const TIME_PARTS = {
  computing: { label: 'computing', meaning: 'containers on the critical path ran' },
  queued: { label: 'queued', meaning: 'their requests waited in the engine, which also pulled their images' },
  capacity: { label: 'waiting for capacity', meaning: 'they waited for a limit, a pool or a quota' },
  approval: { label: 'waiting for approval', meaning: 'they waited for a person' },
  retries: { label: 'retries', meaning: 'attempts that were tried again, and the pauses after them' },
  transfer: {
    label: 'transfer',
    meaning: 'outputs were published, and files were copied between clusters and to directories',
  },
  noExecutor: {
    label: 'no executor',
    meaning: 'no process executed the run, and none of these containers is known to have run or waited in the engine',
  },
  other: { label: 'other', meaning: 'everything else, such as lookups in the cache and notifications' },
} as const;

/** One of `TIME_PARTS`. */
export type TimePart = keyof typeof TIME_PARTS;
