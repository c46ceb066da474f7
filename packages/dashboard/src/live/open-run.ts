import type { CellChange, ChangeList, RunDetails, StreamEvents } from '@sluice/host';
import { fetchReply, messageFor } from '../api/fetch-reply.ts';
import { type Connection, openEvents } from '../api/open-events.ts';
import { type ChangeHistory, createHistory, extendHistory } from '../model/change-history.ts';
import { applyChanges, createRunModel, type RunModel } from '../model/run-model.ts';
import { CellNames } from './cell-names.ts';
import { Store } from './store.ts';

const PAGE = 20_000;
/** The details of a run that changes quickly are not fetched more often. */
const REFRESH_MS = 2_000;

/** A run as it is shown: follows its events until `close`. */
export class LiveRun extends Store {
  readonly runId: string;
  details: RunDetails | undefined;
  model: RunModel | undefined;
  history: ChangeHistory | undefined;
  names: CellNames;
  /** Whether `history` reaches to the present. */
  isHistoryComplete = false;
  status: RunDetails['status'] | undefined;
  connection: Connection = { isConnected: true };
  /** Why the run cannot be shown. */
  error: string | undefined;
  readonly #aborted = new AbortController();
  /** Live changes that arrive while earlier pages are loaded. */
  #waiting: { readonly changes: readonly CellChange[]; readonly position: number }[] = [];
  #loads = 0;
  #refreshTimer: ReturnType<typeof setTimeout> | undefined;
  #closeEvents: (() => void) | undefined;

  constructor(runId: string) {
    super();
    this.runId = runId;
    this.names = this.#createNames();
  }

  /** Starts to follow. */
  open(): void {
    this.#closeEvents = openEvents({
      run: this.runId,
      on: {
        snapshot: (data) => this.#replaceModel(data),
        changes: (data) => this.#receiveChanges(data),
        missing: ({ message }) => {
          this.error = message;
          this.changed();
        },
      },
      onConnection: (connection) => {
        this.connection = connection;
        if (connection.isConnected && this.error !== undefined) void this.#fetchDetails();
        this.changed();
      },
    });
    void this.#fetchDetails();
  }

  /** Ends all requests. */
  close(): void {
    this.#aborted.abort();
    clearTimeout(this.#refreshTimer);
    this.#closeEvents?.();
  }

  /** Fetches soon what the events do not contain. */
  refresh(): void {
    this.#refreshTimer ??= setTimeout(() => {
      this.#refreshTimer = undefined;
      void this.#fetchDetails();
    }, REFRESH_MS);
  }

  get #path(): string {
    return `runs/${encodeURIComponent(this.runId)}`;
  }

  #createNames(): CellNames {
    return new CellNames(this.#path, { signal: this.#aborted.signal, onLoaded: () => this.changed() });
  }

  async #fetchDetails(): Promise<void> {
    try {
      this.details = await fetchReply<RunDetails>(this.#path, {}, this.#aborted.signal);
      this.status = this.details.status;
      this.error = undefined;
    } catch (error) {
      if (this.#aborted.signal.aborted) return;
      if (this.details === undefined) this.error = messageFor(error);
    }
    this.changed();
  }

  #replaceModel(data: StreamEvents['snapshot']): void {
    this.model = createRunModel(data);
    this.names = this.#createNames();
    void this.#loadHistory(data.states.length);
    this.#receiveHead(data.run);
  }

  #receiveChanges({ changes, position, run }: StreamEvents['changes']): void {
    if (this.model) applyChanges(this.model, changes, position);
    if (this.isHistoryComplete && this.history) extendHistory(this.history, changes, position);
    else this.#waiting.push({ changes, position });
    if (changes.some(([, , , , status]) => status === 'failed')) this.refresh();
    this.#receiveHead(run);
  }

  #receiveHead({ status }: StreamEvents['changes']['run']): void {
    if (status !== this.status) this.refresh();
    this.status = status;
    this.changed();
  }

  async #loadHistory(steps: number): Promise<void> {
    const load = ++this.#loads;
    const history = createHistory(steps);
    this.history = history;
    this.isHistoryComplete = false;
    this.#waiting = [];
    try {
      let pageToken: string | undefined;
      do {
        const query = { pageSize: PAGE, pageToken };
        const page = await fetchReply<ChangeList>(`${this.#path}/changes`, query, this.#aborted.signal);
        // A later snapshot has started another load.
        if (load !== this.#loads) return;
        extendHistory(history, page.changes, page.position);
        pageToken = page.nextPageToken;
        this.changed();
      } while (pageToken !== undefined);
      for (const { changes, position } of this.#waiting) extendHistory(history, changes, position);
      this.isHistoryComplete = true;
    } catch (error) {
      if (!this.#aborted.signal.aborted) console.warn(`could not load the history: ${messageFor(error)}`);
    }
    this.changed();
  }
}

/** Opens a run of the API and follows it. */
export function openRun(runId: string): LiveRun {
  const run = new LiveRun(runId);
  run.open();
  return run;
}
