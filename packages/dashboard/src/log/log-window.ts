import type { LogLine } from '@sluice/host';
import { apiUrl, fetchReply, messageFor, send } from '../api/fetch-reply.ts';
import { Store } from '../live/store.ts';
import { styleAfter } from './style-after.ts';
import { withoutStyles } from './without-styles.ts';

/** Which log. */
export interface LogSource {
  readonly path: string;
  readonly step: string;
  readonly cell: number;
  readonly attempt: number;
}

/** Where a line is in its log. */
export interface LinePlace {
  /** From 1, in the log as the service has it: a link to the line has this number. */
  readonly line: number;
  /**
   * Its number as it was written. Behind a cut, that is unknown: then how many lines after the cut it is, such as `+3`. `cut`:
   * the line that says that the log was cut.
   */
  readonly label: string;
}

const CHUNK = 1_048_576;
/** More is not kept in the page: a log may have gigabytes. */
const MAX_BYTES = 8 * CHUNK;
const NEWLINE = 10;
/** After a lost connection. */
const RETRY_MS = 1_000;

/** A part of a log as lines. It begins anywhere, and grows at its end. */
export class LogWindow extends Store {
  /** The last one may be incomplete while the log grows. */
  lines: string[] = [];
  /** The ANSI sequence that each line begins with, since the lines before it have not reset it. */
  styles: string[] = [];
  /** Offset of the first line in bytes. */
  start = 0;
  /** Offset after the last byte that was read. */
  end = 0;
  /** Size of the log in bytes, as last reported. */
  total = 0;
  /** The number of the first line, from 1; undefined until the server has counted the lines before it. */
  firstLine: number | undefined = 1;
  isLoaded = false;
  error: string | undefined;
  readonly #source: LogSource;
  readonly #url: string;
  readonly #aborted = new AbortController();
  #decoder = new TextDecoder();
  #chunks: { readonly bytes: number; readonly lines: number }[] = [];
  /** Lines that were dropped at the beginning. */
  #dropped = 0;
  /** Ends the request for the number of the first line. */
  #counting: AbortController | undefined;
  /** The last cut of the log, as the header of the last reply that named one tells it. */
  #cut: string | undefined;
  /** Where the log was cut in bytes, and the number of the line that says so, once the server has counted. */
  #cutPlace: { readonly start: number; readonly line?: number } | undefined;
  /** Where the log was cut since what is shown was read; undefined if it was not. */
  #stale: number | undefined;
  /** Reads happen one after the other. */
  #queue: Promise<unknown> = Promise.resolve();

  constructor(source: LogSource) {
    super();
    const { path, step, cell, attempt } = source;
    this.#source = source;
    this.#url = apiUrl(path, { step, cellIndex: cell, attempt });
  }

  /** Where the whole log can be fetched. */
  get url(): string {
    return this.#url;
  }

  get isAtEnd(): boolean {
    return this.isLoaded && this.end >= this.total;
  }

  /** Ends all requests. */
  close(): void {
    this.#aborted.abort();
    this.#counting?.abort();
  }

  /** Begins again at the first line after a byte. */
  jump(offset: number): Promise<void> {
    return this.#enqueue(() => this.#begin(offset));
  }

  async #begin(offset: number): Promise<void> {
    this.#counting?.abort();
    this.#counting = undefined;
    this.lines = [];
    this.styles = [];
    this.#chunks = [];
    this.#decoder = new TextDecoder();
    this.firstLine = offset === 0 ? 1 : undefined;
    // The byte before may end a line.
    const from = Math.max(0, offset - 1);
    this.start = this.end = from;
    const bytes = await this.#read(from);
    this.#stale = undefined;
    const skipped = offset === 0 ? 0 : Math.max(0, bytes.indexOf(NEWLINE) + 1);
    this.start += skipped;
    this.#append(bytes.subarray(skipped));
    void this.#countLines();
  }

  /** Begins again near the end, with whole lines. */
  async jumpToEnd(): Promise<void> {
    if (!this.isLoaded) await this.jump(0);
    if (this.isAtEnd) return;
    // One byte tells the size; logs of running containers grow.
    await this.jump(Math.max(0, this.total - CHUNK / 2));
    while (!this.isAtEnd && this.error === undefined && !this.#aborted.signal.aborted) await this.extend();
  }

  /**
   * Reads what follows. The number of lines that were dropped at the beginning. If the log was cut before its end here,
   * begins again at the cut.
   */
  extend(): Promise<number> {
    return this.#enqueue(async () => {
      const bytes = await this.#read(this.end);
      if (this.#stale !== undefined) {
        await this.#begin(this.#stale);
        return 0;
      }
      this.#append(bytes);
      const dropped = this.#trim();
      void this.#countLines();
      return dropped;
    });
  }

  /** Goes to the end and shows what is written, until the attempt has ended or the signal is aborted. */
  async follow(signal: AbortSignal): Promise<void> {
    const both = AbortSignal.any([signal, this.#aborted.signal]);
    await this.jumpToEnd();
    while (!both.aborted && !(await this.#readOn(both))) {
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      if (!both.aborted) await this.extend();
    }
  }

  /** Reads until the attempt has ended: then true. False if the connection was lost. */
  async #readOn(signal: AbortSignal): Promise<boolean> {
    try {
      const reply = await send(`${this.#url}&follow=true&offset=${this.end}`, { signal });
      this.#noteCut(reply);
      if (this.#stale !== undefined) {
        await reply.body!.cancel();
        return false;
      }
      const reader = reply.body!.getReader();
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return true;
        await this.#enqueue(async () => {
          if (signal.aborted) return;
          this.#append(value);
          this.total = Math.max(this.total, this.end);
          this.error = undefined;
          this.#trim();
        });
      }
    } catch (error) {
      if (!signal.aborted) {
        this.error = messageFor(error);
        this.changed();
      }
      return signal.aborted;
    }
  }

  /** The index of the first line from `index` whose text matches. Reads on until there is one, or the log ends: then -1. */
  async find(pattern: RegExp, index: number): Promise<number> {
    for (let from = index; ; ) {
      const found = this.lines.findIndex((line, place) => place >= from && pattern.test(withoutStyles(line)));
      if (found !== -1) return found;
      if (this.isAtEnd || this.error !== undefined || this.#aborted.signal.aborted) return -1;
      // The last line may have been incomplete.
      from = Math.max(0, this.lines.length - 1);
      from = Math.max(0, from - (await this.extend()));
    }
  }

  /**
   * The index of the line with a number, from 1, or from the end if the number is negative. Reads on until there is one, or the
   * log ends: then -1.
   */
  async findLine(number: number): Promise<number> {
    if (number < 0) {
      await this.jumpToEnd();
      return Math.max(-1, this.lines.length - (this.lines.at(-1) === '' ? 1 : 0) + number);
    }
    if (this.firstLine === undefined || number < this.firstLine) await this.jump(0);
    for (;;) {
      const index = number - (this.firstLine ?? 1);
      if (index < this.lines.length) return index;
      if (this.isAtEnd || this.error !== undefined || this.#aborted.signal.aborted) return -1;
      await this.extend();
    }
  }

  /** The place of a line of this window; undefined until it is known. */
  placeOf(index: number): LinePlace | undefined {
    if (this.firstLine === undefined) return undefined;
    const line = this.firstLine + index;
    const cut = this.#cutPlace;
    if (cut === undefined || this.end <= cut.start) return { line, label: String(line) };
    if (cut.line === undefined) return undefined;
    if (line === cut.line) return { line, label: 'cut' };
    return { line, label: line < cut.line ? String(line) : `+${line - cut.line}` };
  }

  #enqueue<T>(read: () => Promise<T>): Promise<T> {
    const done = this.#queue.then(read);
    this.#queue = done.catch(() => {});
    return done;
  }

  #noteCut(reply: Response): void {
    const cut = reply.headers.get('sluice-log-cut') ?? undefined;
    if (cut === undefined) return;
    const start = Number.parseInt(cut, 10);
    void this.#countCut(start);
    if (cut === this.#cut) return;
    this.#cut = cut;
    if (start < this.end) this.#stale = start;
  }

  async #read(offset: number): Promise<Uint8Array> {
    try {
      const headers = { range: `bytes=${offset}-${offset + CHUNK - 1}` };
      const reply = await send(this.#url, { headers, signal: this.#aborted.signal });
      this.#noteCut(reply);
      const total = /\/(\d+)$/.exec(reply.headers.get('content-range') ?? '')?.[1];
      const bytes = reply.status === 416 ? new Uint8Array() : new Uint8Array(await reply.arrayBuffer());
      // A server without ranges sends everything.
      const part = reply.status === 200 ? bytes.subarray(offset) : bytes;
      this.total = total === undefined ? offset + part.length : Number(total);
      this.error = undefined;
      return part;
    } catch (error) {
      if (!this.#aborted.signal.aborted) this.error = messageFor(error);
      return new Uint8Array();
    } finally {
      this.isLoaded = true;
      this.changed();
    }
  }

  /** Finds the number of the first line where it is unknown. In a log of gigabytes, that takes longer than the jump. */
  async #countLines(): Promise<void> {
    if (this.firstLine !== undefined || this.error !== undefined || this.#counting !== undefined) return;
    const counting = new AbortController();
    this.#counting = counting;
    const dropped = this.#dropped;
    try {
      const line = await this.#fetchLine(this.start, counting.signal);
      if (counting.signal.aborted) return;
      this.firstLine = line + this.#dropped - dropped;
      this.changed();
    } catch {
      // The lines have no numbers until more of the log is read.
    }
    if (this.#counting === counting) this.#counting = undefined;
  }

  /** Finds the number of the line that says that the log was cut. What is before it does not change. */
  async #countCut(start: number): Promise<void> {
    if (this.#cutPlace?.start === start) return;
    this.#cutPlace = { start };
    try {
      // The line before it is cut there, and ends with its first byte.
      this.#cutPlace = { start, line: (await this.#fetchLine(start, this.#aborted.signal)) + 1 };
    } catch {
      // The next reply tries again.
      this.#cutPlace = undefined;
    }
    this.changed();
  }

  /** The number of the line with the byte at `offset`. */
  async #fetchLine(offset: number, signal: AbortSignal): Promise<number> {
    const { path, step, cell, attempt } = this.#source;
    return (await fetchReply<LogLine>(`${path}-line`, { step, cellIndex: cell, attempt, offset }, signal)).line;
  }

  #append(bytes: Uint8Array): void {
    this.end += bytes.length + (this.lines.length === 0 ? this.start - this.end : 0);
    const parts = this.#decoder.decode(bytes, { stream: true }).split('\n');
    const last = this.lines.pop() ?? '';
    const before = this.lines.length;
    parts[0] = last + parts[0]!;
    let style = this.styles.pop() ?? '';
    for (const part of parts) {
      this.lines.push(part);
      this.styles.push(style);
      style = styleAfter(style, part);
    }
    this.#chunks.push({ bytes: bytes.length, lines: this.lines.length - 1 - before });
    this.changed();
  }

  #trim(): number {
    let dropped = 0;
    while (this.#chunks.length > 2 && this.end - this.start > MAX_BYTES) {
      const { bytes, lines } = this.#chunks.shift()!;
      this.start += bytes;
      dropped += lines;
    }
    if (dropped === 0) return 0;
    this.lines = this.lines.slice(dropped);
    this.styles = this.styles.slice(dropped);
    this.#dropped += dropped;
    if (this.firstLine !== undefined) this.firstLine += dropped;
    return dropped;
  }
}
