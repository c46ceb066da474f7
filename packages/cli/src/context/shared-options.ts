/** The options that several commands share, as keys of `GlobalOptions`. */
export type SharedOption =
  | 'home'
  | 'profile'
  | 'service'
  | 'account'
  | 'cluster'
  | 'engine'
  | 'cpu'
  | 'verbose'
  | 'json'
  | 'color';

/** Of commands that also work on runs of a server. */
const SERVER = ['home', 'profile', 'service', 'account', 'cluster', 'verbose'] as const;
const SERVICE = [...SERVER, 'engine', 'cpu'] as const;

/**
 * Which shared options apply to which command. The grammar accepts only these, help shows only these, and a suggested
 * command repeats only these.
 */
const SHARED_OPTIONS: ReadonlyMap<string, readonly SharedOption[]> = new Map<string, readonly SharedOption[]>([
  ['run', [...SERVICE, 'json', 'color']],
  ['rerun', [...SERVICE, 'json', 'color']],
  ['resume', [...SERVICE, 'json', 'color']],
  ['attach', [...SERVER, 'json', 'color']],
  ['wait', [...SERVER, 'json', 'color']],
  ['detach', [...SERVICE, 'json']],
  ['suspend', ['home', 'json']],
  ['ui', ['home', 'json']],
  ['host', ['home']],
  ['cancel', [...SERVICE, 'json', 'color']],
  ['approve', [...SERVER, 'json']],
  ['reject', [...SERVER, 'json']],
  ['adopt', [...SERVICE, 'json', 'color']],
  ['schedule run', [...SERVICE, 'json', 'color']],
  ['schedule backfill', [...SERVICE, 'json', 'color']],
  ['schedule next', ['home', 'json', 'color']],
  ['schedule list', ['home', 'json']],
  ['schedule pause', ['home', 'json']],
  ['schedule unpause', ['home', 'json']],
  ['runs', [...SERVER, 'json']],
  ['show', [...SERVER, 'json', 'color']],
  ['open', [...SERVER, 'json']],
  ['why', [...SERVICE, 'json', 'color']],
  ['history', [...SERVER, 'json', 'color']],
  ['logs', [...SERVICE, 'json']],
  ['report', [...SERVER, 'json']],
  ['mcp', SERVICE],
  ['pull', [...SERVICE, 'json']],
  ['gc', [...SERVICE, 'json']],
  ['delete', [...SERVICE, 'json']],
  ['orphans', [...SERVICE, 'json']],
  ['check', ['home', 'profile', 'json', 'color']],
  ['plan', [...SERVICE, 'json', 'color']],
  ['serve', ['json']],
  ['admin', ['json']],
  ['doctor', ['home', 'json']],
  ['trust', ['home', 'json']],
  ['logout', ['json']],
  ['whoami', [...SERVER, 'json']],
  ['profile list', ['home', 'profile', 'json']],
  ['profile show', ['home', 'json']],
  ['profile use', ['home', 'json']],
  ['login', ['account', 'cluster', 'verbose', 'json']],
]);

/** The shared options of a command; `name` is its name or begins with it. Empty for a command that has none. */
export function sharedOptionsOf(name: string): readonly SharedOption[] {
  const [first = '', second] = name.split(' ');
  return SHARED_OPTIONS.get(`${first} ${second}`) ?? SHARED_OPTIONS.get(first) ?? [];
}
