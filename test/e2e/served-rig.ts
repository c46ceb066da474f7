import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Started, until, type Workplace } from './workplace-rig.ts';

/** The one user of a served workplace, as the command finds them in its environment. */
export const CREDENTIALS = { SLUICE_EMAIL: 'a@example.org', SLUICE_PASSWORD: 'sesame' };

const FILE = 'service.yaml';
const MAIN = `
  - id: main
    engine: process
    capacity: { cpu: 4, memory: 4GB }
    accounts: [physics]
    instanceTypes: [{ id: small, cpu: 1, memory: 1GB }]`;

/** A service that a command serves. */
export interface Server extends Started {
  /** Where it listens. */
  readonly url: string;
  /** With -9. */
  kill(): Promise<void>;
}

/** How `service.yaml` differs from one cluster with one account. */
interface Config {
  readonly clusters?: string;
  /** Further lines. */
  readonly extra?: string;
  readonly port?: number;
}

interface NewServer extends Config {
  readonly accounts?: readonly string[];
}

/** Writes the workplace's `service.yaml`. */
export function configure({ directory }: Workplace, { clusters = MAIN, extra = '', port = 0 }: Config = {}): void {
  const text = `
root: ./data
clusters:${clusters}
listen: [{ host: 127.0.0.1, port: ${port} }]
${extra}`;
  writeFileSync(join(directory, FILE), text);
}

/** `sluice admin user …` to its end. */
export function administer(place: Workplace, ...args: readonly string[]): Started['ended'] {
  const env = { SLUICE_PASSWORD: CREDENTIALS.SLUICE_PASSWORD };
  return place.start(['admin', 'user', ...args, '--config', FILE], { env }).ended;
}

/** Adds the user and gives them the accounts. */
export async function addUser(place: Workplace, ...accounts: readonly string[]): Promise<void> {
  const email = CREDENTIALS.SLUICE_EMAIL;
  for (const args of [['add', email], ...accounts.map((account) => ['grant', email, account])]) {
    const { exitCode, stderr } = await administer(place, ...args);
    if (exitCode !== 0 || stderr !== '') throw new Error(`could not ${args.join(' ')}: ${stderr}`);
  }
}

/** Configures the workplace, adds the user with `accounts`, and serves. */
export async function serveNew(place: Workplace, options: NewServer = {}): Promise<Server> {
  const { accounts = ['main/physics'], ...config } = options;
  configure(place, config);
  await addUser(place, ...accounts);
  return serve(place);
}

/** Serves, and waits until the service listens. */
export async function serve(place: Workplace): Promise<Server> {
  const started = place.start(['serve', '--config', FILE, '--log-level', 'error'], { isEndless: true });
  const hasEnded = () => started.process.exitCode !== null || started.process.signalCode !== null;
  await until(() => started.stdout().includes('\n') || hasEnded(), 'the service to listen');
  const url = /^listening on (\S+)/.exec(started.stdout())?.[1];
  if (url === undefined) throw new Error(`the service did not come up: ${JSON.stringify(await started.ended)}`);
  const kill = async () => {
    started.process.kill('SIGKILL');
    await started.ended;
  };
  return { ...started, url, kill };
}
