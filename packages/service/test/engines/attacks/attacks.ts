import { type ChildProcessByStdio, spawn, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readdirSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';

const sources = fileURLToPath(new URL('program', import.meta.url));
/** A number of its own for each victim of this process, and for those of processes that run at the same time. */
let victims = process.pid * 16;

/** What one attack came to: `detail` is the errno of a blocked one, and the evidence of one that succeeded. */
export interface AttackResult {
  readonly verdict: 'blocked' | 'succeeded' | 'broken';
  readonly detail: string;
}

/** The compiled attacker: `directory` is mounted into a container, which runs `attack run <number>` from there. */
export interface AttackProgram {
  readonly directory: string;
  /** Version of Landlock that this machine's kernel has; 0 for none. */
  readonly landlock: number;
  remove(): void;
}

/** Static, so that it runs in any image; in `parent`. Undefined without a C compiler, which is an error where CI is set. */
export function buildAttackProgram(parent = tmpdir()): AttackProgram | undefined {
  const compiler = process.env.CC ?? 'cc';
  if (spawnSync(compiler, ['--version']).status !== 0 && process.env.CI !== 'true') return undefined;
  const directory = mkdtempSync(join(parent, 'sluice-attack-'));
  const units = readdirSync(sources).filter((name) => name.endsWith('.c'));
  const paths = units.map((name) => join(sources, name));
  const flags = ['-std=gnu11', '-O1', '-Wall', '-Wextra', '-Werror', '-static'];
  const made = spawnSync(compiler, [...flags, '-o', join(directory, 'attack'), ...paths], { encoding: 'utf8' });
  if (made.status !== 0) throw new Error(`could not compile the attack program: ${made.stderr}`);
  chmodSync(directory, 0o755);
  const landlock = Number(spawnSync(join(directory, 'attack'), ['landlock', '0'], { encoding: 'utf8' }).stdout);
  return { directory, landlock, remove: () => rmSync(directory, { recursive: true, force: true }) };
}

/** Reads the output of `attack run`; throws where the program did not come to its end. */
export function readAttackResults(log: string): Map<string, AttackResult> {
  const lines = log.split('\n');
  if (!lines.includes('done')) throw new Error(`could not find the end of the attacks in the log: ${log}`);
  const results = new Map<string, AttackResult>();
  for (const line of lines) {
    const match = /^(blocked|succeeded|broken) (\S+) (.*)$/.exec(line);
    if (match === null) continue;
    const [, verdict, name, detail] = match as unknown as [string, AttackResult['verdict'], string, string];
    results.set(name, { verdict, detail });
  }
  return results;
}

/** The attacks that were not blocked, as `<name>: <evidence>`. */
export function listSuccesses(results: ReadonlyMap<string, AttackResult>): string[] {
  return [...results].filter(([, it]) => it.verdict !== 'blocked').map(([name, it]) => `${name}: ${it.detail}`);
}

/** A process of the host with files, cgroups and IPC, which the attacks with its number are aimed at. */
export class Victim {
  readonly number: number;
  readonly #child: ChildProcessByStdio<Writable, Readable, null>;
  readonly #lines: AsyncIterator<string>;

  private constructor(number: number, child: ChildProcessByStdio<Writable, Readable, null>) {
    this.number = number;
    this.#child = child;
    this.#lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  }

  /** `prefix`: words before the program, to run it as the user that the service runs as. */
  static async start(program: AttackProgram, prefix: readonly string[] = []): Promise<Victim> {
    const number = ++victims;
    const [command, ...words] = [...prefix, join(program.directory, 'attack'), 'victim', String(number)];
    const child = spawn(command as string, words, { stdio: ['pipe', 'pipe', 'inherit'] });
    const victim = new Victim(number, child);
    const line = await victim.#next();
    if (line !== 'ready') throw new Error(`could not start the victim: ${line}`);
    return victim;
  }

  /** `intact`, or what has happened to it. Ends it. A frozen victim answers nothing. */
  async examine(): Promise<string> {
    const ended = new Promise((resolve) => this.#child.once('exit', resolve));
    this.#child.stdin.end('\n');
    const line = await this.#next();
    await ended;
    return line;
  }

  /** Removes it and its cgroups, whatever state they are in. */
  async end(): Promise<void> {
    const { pid } = this.#child;
    const ended = new Promise((resolve) => this.#child.once('exit', resolve));
    if (pid === undefined || this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    for (const group of this.#groups()) {
      for (const [file, value] of [
        ['freezer.state', 'THAWED'],
        ['cgroup.freeze', '0'],
      ] as const)
        if (existsSync(join(group, file))) writeFileSync(join(group, file), value);
    }
    this.#child.kill('SIGKILL');
    await ended;
    for (const group of this.#groups()) rmdirSync(group);
  }

  #groups(): string[] {
    const top = '/sys/fs/cgroup';
    const places = [top, ...(existsSync(top) ? readdirSync(top).map((name) => join(top, name)) : [])];
    return places.map((place) => join(place, `sluice-victim-${this.number}`)).filter((group) => existsSync(group));
  }

  async #next(): Promise<string> {
    const { value, done } = await this.#lines.next();
    return done === true ? `it was ended by ${this.#child.signalCode ?? `exit code ${this.#child.exitCode}`}` : value;
  }
}
