import type { ChargedFile } from '../files/charged-file.ts';

interface PendingWrite {
  readonly bytes: Buffer;
  readonly offset: number;
  readonly done: (error?: unknown) => void;
}

/**
 * Performs the writes to one file in the order of their requests. Adjacent writes that arrive while an earlier one is in
 * progress are combined. If writes could overtake each other, a killed process would leave a hole, and a client that resumes
 * from the file's length would never fill it.
 */
export class OrderedWrites {
  readonly #file: Pick<ChargedFile, 'write'>;
  #pending: PendingWrite[] = [];
  #isWriting = false;

  constructor(file: Pick<ChargedFile, 'write'>) {
    this.#file = file;
  }

  write(bytes: Buffer, offset: number): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#pending.push({ bytes, offset, done: (error) => (error === undefined ? resolve() : reject(error)) });
      if (!this.#isWriting) void this.#writePending();
    });
  }

  async #writePending(): Promise<void> {
    this.#isWriting = true;
    while (this.#pending.length > 0) {
      const batch = this.#takeAdjacent();
      const blocks = batch.map(({ bytes }) => bytes);
      const error = await this.#file.write(blocks, batch[0]!.offset).then(
        () => undefined,
        (reason: unknown) => reason ?? new Error('a write failed'),
      );
      for (const { done } of batch) done(error);
    }
    this.#isWriting = false;
  }

  #takeAdjacent(): readonly PendingWrite[] {
    const isAdjacent = ({ offset }: PendingWrite, index: number, all: readonly PendingWrite[]) =>
      index === 0 || offset === all[index - 1]!.offset + all[index - 1]!.bytes.length;
    const end = this.#pending.findIndex((write, index, all) => !isAdjacent(write, index, all));
    return this.#pending.splice(0, end === -1 ? this.#pending.length : end);
  }
}
