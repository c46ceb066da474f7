import type { Move, RunDetails, RunMoves, StreamEvents } from '@sluice/host';
import { fetchReply, messageFor } from '../api/fetch-reply.ts';
import { type Connection, openEvents } from '../api/open-events.ts';
import { createHistory, extendHistory, type MoveHistory } from '../model/move-history.ts';
import { applyMoves, createRunModel, type RunModel } from '../model/run-model.ts';
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
  history: MoveHistory | undefined;
  names: CellNames;
  /** Whether `history` reaches to the present. */
  isHistoryComplete = false;
  status: RunDetails['status'] | undefined;
  connection: Connection = { isConnected: true };
  /** Why the run cannot be shown. */
  error: string | undefined;
  readonly #aborted = new AbortController();
  /** Live moves that arrive while earlier pages are loaded. */
  #waiting: { readonly moves: readonly Move[]; readonly position: number }[] = [];
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
        moves: (data) => this.#receiveMoves(data),
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

  #receiveMoves({ moves, position, run }: StreamEvents['moves']): void {
    if (this.model) applyMoves(this.model, moves, position);
    if (this.isHistoryComplete && this.history) extendHistory(this.history, moves, position);
    else this.#waiting.push({ moves, position });
    if (moves.some(([, , , , status]) => status === 'failed')) this.refresh();
    this.#receiveHead(run);
  }

  #receiveHead({ status }: StreamEvents['moves']['run']): void {
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
      for (let more = true, skip = 0; more; ) {
        const query = { after: history.position, skip, limit: PAGE };
        const page = await fetchReply<RunMoves>(`${this.#path}/moves`, query, this.#aborted.signal);
        // A later snapshot has started another load.
        if (load !== this.#loads) return;
        extendHistory(history, page.moves, page.position);
        ({ more, skip = 0 } = page);
        this.changed();
      }
      for (const { moves, position } of this.#waiting) extendHistory(history, moves, position);
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
