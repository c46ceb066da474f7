import type { RunEntry, RunList, StreamEvents } from '@sluice/host';
import { fetchReply, messageFor } from '../api/fetch-reply.ts';
import { type Connection, openEvents } from '../api/open-events.ts';
import { Store } from './store.ts';

const PAGE = 200;

/** The runs of the home, newest first; follows changes until `close`. */
export class LiveRunList extends Store {
  runs: readonly RunEntry[] = [];
  isLoaded = false;
  /** Whether the server has older runs. */
  hasMore = false;
  connection: Connection = { isConnected: true };
  error: string | undefined;
  readonly #aborted = new AbortController();
  readonly #byId = new Map<string, RunEntry>();
  #nextPageToken: string | undefined;
  #closeEvents: (() => void) | undefined;

  /** Starts to follow. */
  open(): void {
    this.#closeEvents = openEvents({
      list: true,
      on: { runs: (data) => this.#receiveRuns(data) },
      onConnection: (connection) => {
        this.connection = connection;
        if (connection.isConnected && this.error !== undefined) this.loadMore();
        this.changed();
      },
    });
    this.loadMore();
  }

  /** Ends all requests. */
  close(): void {
    this.#aborted.abort();
    this.#closeEvents?.();
  }

  /** Fetches the next page of older runs. */
  loadMore(): void {
    const query = { pageSize: PAGE, pageToken: this.#nextPageToken };
    fetchReply<RunList>('runs', query, this.#aborted.signal).then(
      (page) => this.#receivePage(page),
      (error) => {
        if (this.#aborted.signal.aborted) return;
        this.error = messageFor(error);
        this.changed();
      },
    );
  }

  #receivePage({ runs, nextPageToken }: RunList): void {
    // An event can be newer than the page.
    for (const run of runs) if (!this.#byId.has(run.runId)) this.#byId.set(run.runId, run);
    this.#nextPageToken = nextPageToken;
    this.hasMore = nextPageToken !== undefined;
    this.isLoaded = true;
    this.error = undefined;
    this.#update();
  }

  #receiveRuns({ runs, removed }: StreamEvents['runs']): void {
    for (const run of runs) this.#byId.set(run.runId, run);
    for (const runId of removed) this.#byId.delete(runId);
    this.#update();
  }

  #update(): void {
    this.runs = [...this.#byId.values()].sort((a, b) => Date.parse(b.createdAt) - Date.parse(a.createdAt));
    this.changed();
  }
}

/** Opens the list of runs of the API and follows it. */
export function openRunList(): LiveRunList {
  const list = new LiveRunList();
  list.open();
  return list;
}
