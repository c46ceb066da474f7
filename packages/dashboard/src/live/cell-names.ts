import type { CellNames as NamesReply } from '@sluice/host';
import { fetchReply } from '../api/fetch-reply.ts';

const PAGE = 1_000;

/** The names of the cells of a run. They are loaded in pages when they are first needed, and do not change. */
export class CellNames {
  /** By step and page; empty while a page is loaded, or if it could not be. */
  readonly #pages = new Map<string, readonly string[]>();
  /** The steps of the pages that are loaded at present. */
  readonly #loading: number[] = [];
  readonly #path: string;
  readonly #signal: AbortSignal;
  readonly #onLoaded: () => void;

  /** `path` is that of the run. Calls `onLoaded` after each page. */
  constructor(path: string, { signal, onLoaded }: { readonly signal: AbortSignal; readonly onLoaded: () => void }) {
    this.#path = path;
    this.#signal = signal;
    this.#onLoaded = onLoaded;
  }

  /** The name of a cell; its number while the name is not known. */
  nameOf(step: number, cell: number): string {
    const page = Math.floor(cell / PAGE);
    const key = `${step} ${page}`;
    const names = this.#pages.get(key);
    if (names === undefined) void this.#load(key, { step, firstCellIndex: page * PAGE, pageSize: PAGE });
    return names?.[cell - page * PAGE] || `cell ${cell}`;
  }

  /** The names of the first `count` cells of a step; undefined while they are loaded. */
  namesOf(step: number, count: number): readonly string[] | undefined {
    const names = Array.from({ length: count }, (_, cell) => this.nameOf(step, cell));
    return this.#loading.includes(step) ? undefined : names;
  }

  async #load(key: string, query: { step: number; firstCellIndex: number; pageSize: number }): Promise<void> {
    this.#pages.set(key, []);
    this.#loading.push(query.step);
    try {
      const { names } = await fetchReply<NamesReply>(`${this.#path}/cell-names`, query, this.#signal);
      this.#pages.set(key, names);
    } catch {
      // The numbers remain.
    }
    this.#loading.splice(this.#loading.indexOf(query.step), 1);
    if (!this.#signal.aborted) this.#onLoaded();
  }
}
