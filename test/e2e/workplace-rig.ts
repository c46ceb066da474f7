import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Container } from '@sluice/client';
import { listRuns } from '@sluice/home';
import { type RunnerEvent, type RunPhase, type RunReportValue, renderTimes } from '@sluice/run';
import {
  createService,
  EMBEDDED_SCOPE,
  embeddedConfig,
  WITHOUT_NAMESPACES,
  WITHOUT_TRANSLATION,
} from '@sluice/service';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** The command as users start it. */
export const COMMAND = join(ROOT, 'packages/cli/bin/sluice.js');
const ABOUT_THIS_MACHINE = [WITHOUT_NAMESPACES, WITHOUT_TRANSLATION].map((warning) => `warning: ${warning}\n`);
/** Starts a program in a network namespace of its own. */
export const OWN_NETWORK = ['unshare', ...(process.getuid?.() === 0 ? [] : ['--user', '--map-current-user']), '--net'];
/** Starts a program where user namespaces are forbidden, as in a default Docker container. */
const FORBID_NAMESPACES = [
  ...['unshare', '--map-root-user', 'sh', '-c'],
  'echo 0 >/proc/sys/user/max_user_namespaces; exec setpriv --no-new-privs --bounding-set=-all --inh-caps=-all --ambient-caps=-all "$@"',
  'sh',
];
/** Ends a command that hangs, before the limit of the test: what it has printed is then in the failure. */
const END_MS = 300_000;
const LOOK_AGAIN_MS = 20;

/** How a command has ended. `exitCode` is undefined where a signal ended it. */
export interface Ended {
  readonly exitCode: number | undefined;
  readonly stdout: string;
  readonly stderr: string;
}

/** A command that is under way. */
export interface Started {
  readonly process: ChildProcess;
  readonly ended: Promise<Ended>;
  /** What it has printed so far. */
  stdout(): string;
  /** Everything that it has written to standard error so far. */
  stderr(): string;
}

export interface StartOptions {
  readonly env?: NodeJS.ProcessEnv;
  /** Not killed after a while: the test ends it. */
  readonly isEndless?: boolean;
  /** In a network namespace of its own, as a container that shares the home has it. */
  readonly isApart?: boolean;
  /** Where user namespaces are forbidden. */
  readonly lacksNamespaces?: boolean;
  /** Words before the command, which start it in another way. */
  readonly prefix?: readonly string[];
  /** Default: the workplace's directory. */
  readonly cwd?: string;
  /** Standard input; absent: none. */
  readonly input?: string;
}

/** A run as `sluice runs --json` prints it. */
export interface ListedRun {
  readonly runId: string;
  readonly pipeline: string;
  readonly status: RunPhase;
  /** RFC 3339. */
  readonly createdAt: string;
  readonly startedAt?: string;
  readonly endedAt?: string;
}

/** A directory with a copy of an example and a home of its own. */
export interface Workplace {
  readonly directory: string;
  readonly home: string;
  start(args: readonly string[], options?: StartOptions): Started;
  /** Runs a command to its end. */
  sluice(...args: string[]): Promise<Ended>;
  /** As `sluice runs --json` lists them, newest first, but read in this process: tests ask often. */
  runs(): Promise<ListedRun[]>;
  show(runId: string): Promise<RunReportValue>;
  /** Every container that the home's service knows, as the service itself says it; no command may be under way. */
  containers(): Promise<Container[]>;
  read(path: string): string;
  remove(): void;
}

/** `parent`: containers have a `/tmp` of their own, which hides a workplace there. */
export function createWorkplace(example?: string, parent = tmpdir()): Workplace {
  if (!existsSync(join(ROOT, 'packages/cli/dist/bundle/main.cjs')))
    throw new Error('the command is not built: pnpm build');
  const directory = mkdtempSync(join(parent, 'sluice-e2e-'));
  if (example !== undefined) cpSync(join(ROOT, 'examples', example), directory, { recursive: true });
  rmSync(join(directory, 'results'), { recursive: true, force: true });
  const home = join(directory, '.sluice');
  // What the person who runs the tests has set and confirmed changes nothing.
  const own = { XDG_CONFIG_HOME: join(directory, '.user/config'), XDG_STATE_HOME: join(directory, '.user/state') };

  const start: Workplace['start'] = (args, options = {}) => {
    const { CI, GITHUB_ACTIONS, FORCE_COLOR, SLUICE_HOME, SLUICE_SERVICE, SLUICE_PROFILE, SUDO_UID, ...env } =
      process.env;
    const inside = [...(options.isApart ? OWN_NETWORK : []), ...(options.lacksNamespaces ? FORBID_NAMESPACES : [])];
    const [program = process.execPath, ...before] = [...(options.prefix ?? []), ...inside, process.execPath];
    const child = spawn(program, [...before, COMMAND, ...args], {
      cwd: options.cwd ?? directory,
      env: { ...env, ...own, SLUICE_HOME: home, ...options.env },
      stdio: 'pipe',
    });
    // A command that does not read its input may have ended already.
    child.stdin.on('error', () => undefined).end(options.input);
    let [stdout, stderr] = ['', ''];
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
    });
    const timer = options.isEndless ? undefined : setTimeout(() => child.kill('SIGKILL'), END_MS);
    const ended = new Promise<Ended>((resolve) => {
      child.on('close', (code) => {
        clearTimeout(timer);
        resolve({ exitCode: code ?? undefined, stdout, stderr: withoutMachine(stderr) });
      });
    });
    return { process: child, ended, stdout: () => stdout, stderr: () => stderr };
  };
  const sluice = (...args: string[]) => start(args).ended;
  return {
    directory,
    home,
    start,
    sluice,
    runs: async () => (await listRuns(home)).map(renderTimes),
    show: async (runId) => JSON.parse((await sluice('show', runId, '--json')).stdout) as RunReportValue,
    containers: () => listContainers(join(home, 'service')),
    read: (path) => readFileSync(join(directory, path), 'utf8'),
    remove: () => rmSync(directory, { recursive: true, force: true, maxRetries: 10 }),
  };
}

/** Without what is said once in each run where namespaces are forbidden: all else must be the same there. */
export function withoutMachine(stderr: string): string {
  return ABOUT_THIS_MACHINE.reduce((text, warning) => text.replace(warning, ''), stderr);
}

/** Whether a process has not ended. In a container whose first process collects no children, it may remain as a zombie. */
export function isAlive(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return !/^[ZX]/.test(stat.slice(stat.lastIndexOf(')') + 2));
  } catch {
    return false;
  }
}

/** An event as it is printed: times are text. */
export type PrintedEvent = Printed<RunnerEvent>;

type Printed<E extends RunnerEvent> = E extends { type: 'runFinished' }
  ? Omit<E, 'at' | 'report'> & { readonly at: string; readonly report: RunReportValue }
  : Omit<E, 'at'> & { readonly at: string };

/** The values of newline-delimited JSON. */
export function parseLines<T = PrintedEvent>(text: string): T[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as T);
}

/** Waits until the condition holds, looking often. */
export async function until(condition: () => boolean | Promise<boolean>, what: string): Promise<void> {
  const deadline = Date.now() + END_MS;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error(`waited ${END_MS} ms in vain for ${what}`);
    await delay(LOOK_AGAIN_MS);
  }
}

export function pause(milliseconds: number): Promise<void> {
  return delay(milliseconds);
}

async function listContainers(root: string): Promise<Container[]> {
  const service = await createService({ config: embeddedConfig({ root }) });
  try {
    const api = service.inProcess({ userId: 'test', accounts: [EMBEDDED_SCOPE] });
    const found: Container[] = [];
    for await (const { id } of api.containers.list(EMBEDDED_SCOPE, { all: true })) {
      found.push(await api.containers.get({ ...EMBEDDED_SCOPE, id }));
    }
    return found;
  } finally {
    await service.close();
  }
}

/** Whether programs may make user and mount namespaces here. */
export function canMakeNamespaces(): boolean {
  return spawnSync('unshare', ['--user', '--map-root-user', '--mount', 'true']).status === 0;
}

/** Whether this machine lets a process be where user namespaces are forbidden, unlike where it is itself. */
export function canLackNamespaces(): boolean {
  const [program = '', ...args] = FORBID_NAMESPACES;
  return spawnSync(program, [...args, 'true']).status === 0;
}

/** Whether this machine lets a process have a network namespace of its own. */
export function canBeApart(): boolean {
  const [program = '', ...args] = OWN_NETWORK;
  return spawnSync(program, [...args, 'true']).status === 0;
}

/** A directory that containers see as it is: not beneath /tmp, which is private to each. */
export function makeSharedDirectory(): string {
  const parent = ROOT.startsWith('/tmp/') ? '/var/tmp' : join(ROOT, '.cache');
  mkdirSync(parent, { recursive: true });
  return mkdtempSync(join(parent, 'sluice-shared-'));
}
