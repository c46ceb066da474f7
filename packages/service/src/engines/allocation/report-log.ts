import { setTimeout as pause } from 'node:timers/promises';
import type { SpoolWriter } from './spool-file.ts';
import { type Report, renderLine } from './spool-lines.ts';

/** Time for more reports, which are then written together. */
const HOLD_MS = 20;
const AGAIN_MS = 500;

/** Writes an agent's reports in order. None is lost: while the disk is full, they wait. */
export class ReportLog {
  readonly #writer: SpoolWriter;
  readonly #revise: (report: Report) => Report;
  #waiting: Report[] = [];
  #writing: Promise<void> | undefined;

  /** `revise` is called for each report when it is written, at least 20 ms after `add`. */
  constructor(writer: SpoolWriter, revise: (report: Report) => Report) {
    this.#writer = writer;
    this.#revise = revise;
  }

  add(report: Report): void {
    this.#waiting.push(report);
    this.#writing ??= this.#write();
  }

  /** Resolves when all reports so far are written. */
  async written(): Promise<void> {
    await this.#writing;
  }

  async #write(): Promise<void> {
    while (this.#waiting.length > 0) {
      await pause(HOLD_MS);
      const text = this.#waiting
        .splice(0)
        .map((report) => renderLine(this.#revise(report)))
        .join('');
      while (!(await this.#isWritten(text))) await pause(AGAIN_MS);
    }
    this.#writing = undefined;
  }

  async #isWritten(text: string): Promise<boolean> {
    return await this.#writer.append(text).then(
      () => true,
      () => false,
    );
  }
}
