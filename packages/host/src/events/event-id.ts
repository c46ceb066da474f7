/** How much of a run a client has received. */
export interface FeedPoint {
  /** The opening of the journal that wrote the last record; another one may have voided it. */
  readonly epoch: number;
  readonly position: number;
  /** The status of the run. */
  readonly status: string;
}

/** How much a client has received. */
export interface StreamPoint {
  readonly runs: ReadonlyMap<string, FeedPoint>;
  /** Of the list of runs; absent without it. */
  readonly list?: string;
}

/** The ID of an event: what the client has received with it. */
export function encodeEventId({ runs, list }: StreamPoint): string {
  const parts = [...runs].map(([runId, { epoch, position, status }]) => `${runId}:${epoch}:${position}:${status}`);
  return [...parts, ...(list === undefined ? [] : [`:${list}`])].join(',');
}

/** Reads the ID of a client's last event. Parts that are not of this form are ignored: the client then gets a snapshot. */
export function decodeEventId(text: string): StreamPoint {
  const runs = new Map<string, FeedPoint>();
  let list: string | undefined;
  for (const part of text.split(',')) {
    const [, runId, epoch, position, status] = /^([a-z0-9]+):(\d{1,15}):(\d{1,15}):([a-z]+)$/.exec(part) ?? [];
    if (runId !== undefined) runs.set(runId, { epoch: Number(epoch), position: Number(position), status: status! });
    else if (part.startsWith(':')) list = part.slice(1);
  }
  return { runs, ...(list !== undefined && { list }) };
}
