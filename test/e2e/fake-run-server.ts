import { createHash } from 'node:crypto';
import { ServiceError } from '@sluice/client';
import type {
  FileDigest,
  HandOverServer,
  JournalSource,
  RunFileName,
  StartRequest,
} from '../../packages/cli/src/connect/run-server.ts';

/** Ends a command as `kill -9` does: nothing in it catches this. */
export class Killed extends Error {}

const FILES = ['plan.json', 'journal.ndjson'] as const;

const digestOf = (bytes: Uint8Array): FileDigest => ({
  size: bytes.length,
  sha256: createHash('sha256').update(bytes).digest('hex'),
});

/** A server with one run, as docs/run-api.md describes it, whose clients are killed when a test says so. */
export class FakeRunServer implements HandOverServer, JournalSource {
  readonly url = 'https://server.example';
  readonly scope = { clusterID: 'main', accountID: 'physics' };
  /** The requests so far. */
  readonly calls: string[] = [];
  /** Kill the client before or after the request with this number, counted from 0, has had its effect. */
  killAt: { readonly call: number; readonly when: 'before' | 'after' } | undefined;
  /** Refuses to start. */
  refusal: ServiceError | undefined;
  isExecuting = false;
  journal: Uint8Array | undefined;
  #staged = new Map<RunFileName, Uint8Array>();
  #started: string | undefined;
  #released: FileDigest | undefined;

  async #call<T>(name: string, effect: () => T): Promise<T> {
    const number = this.calls.push(name) - 1;
    const { call, when } = this.killAt ?? {};
    if (call === number && when === 'before') throw new Killed();
    const reply = effect();
    if (call === number && when === 'after') throw new Killed();
    return reply;
  }

  #sizes(): Record<RunFileName, number> {
    const [plan, journal] = FILES.map((name) => this.#staged.get(name)?.length ?? 0);
    return { 'plan.json': plan!, 'journal.ndjson': journal! };
  }

  staged() {
    return this.#call('staged', () => this.#sizes());
  }

  put(_: string, { name, offset, bytes }: { name: RunFileName; offset: number; bytes: Uint8Array }) {
    return this.#call('put', () => {
      const before = this.#staged.get(name) ?? new Uint8Array();
      if (offset > before.length) throw new ServiceError('ALREADY_EXISTS', 'a gap', { reason: 'FILES_DIFFER' });
      this.#staged.set(name, Buffer.concat([before.subarray(0, offset), bytes]));
    });
  }

  start(_: string, { files }: StartRequest) {
    return this.#call('start', () => this.accept(files));
  }

  /** What a request to start does, also one that arrives late. */
  accept(files: StartRequest['files']): string {
    const wanted = JSON.stringify(files);
    if (this.#released === undefined && this.#started === wanted) return 'https://server.example/run';
    if (this.#released === undefined && this.#started !== undefined)
      throw new ServiceError('ALREADY_EXISTS', 'another run', { reason: 'RUN_EXISTS' });
    if (this.refusal) throw this.refusal;
    const staged = FILES.map((name) => this.#staged.get(name) ?? new Uint8Array());
    if (staged.some((bytes, index) => digestOf(bytes).sha256 !== files[FILES[index]!].sha256))
      throw new ServiceError('ALREADY_EXISTS', 'missing files', { reason: 'FILES_MISSING' });
    const journal = staged[1]!;
    if (this.#released && digestOf(journal.subarray(0, this.#released.size)).sha256 !== this.#released.sha256)
      throw new ServiceError('ALREADY_EXISTS', 'another past', { reason: 'RUN_EXISTS' });
    this.#staged.clear();
    this.#started = wanted;
    this.#released = undefined;
    this.journal = journal;
    this.isExecuting = true;
    return 'https://server.example/run';
  }

  release() {
    return this.#call('release', () => {
      this.#staged.clear();
      this.isExecuting = false;
      if (this.journal) this.#released ??= digestOf(this.journal);
      return this.#released;
    });
  }

  /** The server executes the run. */
  append(line: string): void {
    if (!this.isExecuting || !this.journal) throw new Error('the server does not execute the run');
    this.journal = Buffer.concat([this.journal, Buffer.from(line)]);
  }

  readPlan() {
    return this.#call('readPlan', () => new Uint8Array());
  }

  readJournal(_: string, offset: number) {
    return this.#call('readJournal', () => this.journal!.subarray(offset));
  }

  isReleased() {
    return this.#call('isReleased', () => this.#released !== undefined);
  }
}
