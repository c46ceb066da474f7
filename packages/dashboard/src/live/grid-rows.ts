import type { GridPage } from '@sluice/host';
import { fetchReply, messageFor } from '../api/fetch-reply.ts';
import { Store } from './store.ts';

const PAGE = 100;
/** More pages are not kept: a grid may have 100,000 rows. */
const MAX_PAGES = 40;
const RETRY_MS = 2_000;

/** A row of a grid. */
export type GridRow = GridPage['rows'][number];

interface LoadedPage {
  rows: readonly GridRow[];
  /** The refresh after which it was requested. */
  age: number;
}

/** The rows of a grid, loaded in pages when they are first shown, and again after `refresh`. */
export class GridRows extends Store {
  /** The newest reply, for all but its rows; undefined until there is one. */
  head: Omit<GridPage, 'rows'> | undefined;
  error: string | undefined;
  readonly #path: string;
  readonly #query: { readonly axes: string | undefined; readonly failed: boolean };
  readonly #pages = new Map<number, LoadedPage>();
  readonly #aborted = new AbortController();
  #age = 0;

  /** `path` is that of the grid. */
  constructor(path: string, query: { readonly axes: string | undefined; readonly failed: boolean }) {
    super();
    this.#path = path;
    this.#query = query;
    void this.#load(0);
  }

  /** Ends all requests. */
  close(): void {
    this.#aborted.abort();
  }

  /** The row at an index; undefined while it is loaded. */
  rowAt(index: number): GridRow | undefined {
    const page = Math.floor(index / PAGE);
    const known = this.#pages.get(page);
    if (known?.age !== this.#age) void this.#load(page);
    return known?.rows[index - page * PAGE];
  }

  /** What was loaded is out of date: it stays until what is shown was loaded again. */
  refresh(): void {
    this.#age += 1;
    // If no row is shown, their number may have changed.
    if (this.head === undefined || this.head.total === 0) void this.#load(0);
    this.changed();
  }

  async #load(page: number): Promise<void> {
    const loaded: LoadedPage = { rows: this.#pages.get(page)?.rows ?? [], age: this.#age };
    // At the end of the map: the first ones are those that were not needed for the longest time.
    this.#pages.delete(page);
    this.#pages.set(page, loaded);
    for (const oldest of [...this.#pages.keys()].slice(0, -MAX_PAGES)) this.#pages.delete(oldest);
    try {
      const query = { ...this.#query, firstRow: page * PAGE, pageSize: PAGE };
      const { rows, ...head } = await fetchReply<GridPage>(this.#path, query, this.#aborted.signal);
      loaded.rows = rows;
      if (this.head === undefined || head.position >= this.head.position) this.head = head;
      this.error = undefined;
    } catch (error) {
      if (this.#aborted.signal.aborted) return;
      this.error = messageFor(error);
      setTimeout(() => this.#retry(loaded), RETRY_MS);
    }
    this.changed();
  }
  /** What was not loaded is requested again when it is shown. */
  #retry(page: LoadedPage): void {
    if (this.#aborted.signal.aborted) return;
    page.age = -1;
    if (this.head === undefined) void this.#load(0);
    this.changed();
  }
}
