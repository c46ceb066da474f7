import { setTimeout as pause } from 'node:timers/promises';
import { backoffDelay } from '@sluice/client';
import { z } from 'zod';
import { EngineError } from '../engine.ts';
import { checkImageName } from '../image-name.ts';
import { isUnreachableRegistry } from '../unreachable-registry.ts';
import type { PullPolicy } from './container-options.ts';
import { ACTS_WITHIN_MS, type DockerApi, DockerError } from './docker-api.ts';
import { type DockerConfig, type RegistryLogin, registryLogin } from './docker-config.ts';
import { parseJsonLines } from './docker-json-lines.ts';

const progressSchema = z.looseObject({
  status: z.string().optional(),
  id: z.string().optional(),
  error: z.string().optional(),
  progressDetail: z.looseObject({ current: z.number().optional(), total: z.number().optional() }).optional(),
});

const imageSchema = z.looseObject({
  Config: z.looseObject({ Entrypoint: z.array(z.string()).nullish(), Cmd: z.array(z.string()).nullish() }).nullish(),
});

/** The command that an image defines. */
export interface DockerImage {
  readonly entrypoint: readonly string[];
  readonly command: readonly string[];
}

/**
 * Pulls the image as the policy says, and reports progress to `onProgress`. Throws `EngineError`: `REJECTED` if the
 * registry does not have it or denies access, `FAULT` if the registry cannot be asked for the time that `pull` says, or sends
 * nothing for long. All accounts share the daemon's images, so if accounts have their own logins, the registry checks access
 * even for an image that is present.
 */
export async function ensureDockerImage(api: DockerApi, image: string, options: PullOptions): Promise<DockerImage> {
  // The name is inserted into request paths without encoding.
  checkImageName(image);
  const access = registryLogin(options.config, { registry: registryOf(image), accountID: options.accountID });
  const { policy } = options.pull;
  if (policy === 'never' && access.isPrivate) {
    const why = `accounts of the service have their own logins at ${registryOf(image)}, which checks every start`;
    throw new EngineError('REJECTED', `image ${image} cannot be used with 'pull: never': ${why}`);
  }
  const present = access.isPrivate || policy === 'always' ? undefined : await inspectImage(api, image);
  if (present) return present;
  if (policy === 'never') {
    throw new EngineError('REJECTED', `image ${image} is not on the machine, and 'pull: never' forbids to pull it`);
  }
  await pullPatiently(api, image, { ...options, login: access.login });
  const pulled = await inspectImage(api, image);
  if (pulled) return pulled;
  throw rejected(image, 'the daemon says that it was pulled, and does not have it');
}

/** The whole command line: `command` replaces the image's `CMD`, and the entrypoint is kept. */
export function commandLine(image: DockerImage, command: readonly string[]): string[] {
  return [...image.entrypoint, ...(command.length > 0 ? command : image.command)];
}

type LoginOptions = PullOptions & Pick<RegistryLogin, 'login'>;

/** Repeats a pull as long as only the registry is at fault and the time lasts. */
async function pullPatiently(api: DockerApi, image: string, options: LoginOptions): Promise<void> {
  const until = performance.now() + (options.pull.timeMs ?? PULL_TIME_MS);
  for (let tries = 1; ; tries++) {
    try {
      return await pull(api, image, options);
    } catch (error) {
      const pauseMs = backoffDelay(PULL_BACKOFF, tries);
      const isPassing = error instanceof EngineError && error.code === 'FAULT';
      if (!isPassing || performance.now() + pauseMs > until) throw error;
      options.onProgress(`${error.message}; trying again in ${pauseMs / 1000} s`);
      await pause(pauseMs, undefined, options.signal && { signal: options.signal });
    }
  }
}

async function pull(api: DockerApi, image: string, options: LoginOptions): Promise<void> {
  options.onProgress(`pulling image ${image}`);
  const { login, stallMs = STALL_MS } = options;
  const stalled = new AbortController();
  const timer = setTimeout(() => stalled.abort(), stallMs);
  try {
    const body = await api.stream('POST', '/images/create', {
      query: { fromImage: withTag(image) },
      headers: login ? { 'x-registry-auth': authHeader(login) } : {},
      signal: AbortSignal.any([stalled.signal, ...(options.signal ? [options.signal] : [])]),
    });
    for await (const said of parseJsonLines(body)) {
      timer.refresh();
      const progress = progressSchema.parse(said);
      if (progress.error !== undefined) throw rejectedPull(image, progress.error, login);
      options.onProgress(describe(image, progress));
    }
  } catch (error) {
    if (error instanceof DockerError) throw rejectedPull(image, error.message, login);
    const words = `the registry sent nothing for ${stallMs / 1000} s`;
    if (stalled.signal.aborted) throw new EngineError('FAULT', `${describePull(image)}: ${words}`, { cause: error });
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

/** How long a pull may make no progress. A step with a `timeout` is canceled by its runner before that. */
const STALL_MS = 900_000;

/** How long a pull is repeated if the client does not say how long it waits. */
const PULL_TIME_MS = 600_000;
const PULL_BACKOFF = { initialMs: 1000, maxMs: 60_000 };

interface PullOptions {
  readonly pull: { readonly policy: PullPolicy; readonly timeMs: number | undefined };
  readonly config: DockerConfig;
  readonly accountID: string;
  readonly onProgress: (text: string) => void;
  readonly signal: AbortSignal | undefined;
  /** Default: 15 minutes. */
  readonly stallMs?: number;
}

async function inspectImage(api: DockerApi, image: string): Promise<DockerImage | undefined> {
  try {
    const { Config } = imageSchema.parse(
      await api.call('GET', `/images/${image}/json`, { answersWithin: ACTS_WITHIN_MS }),
    );
    return { entrypoint: Config?.Entrypoint ?? [], command: Config?.Cmd ?? [] };
  } catch (error) {
    if (error instanceof DockerError && error.status === 404) return undefined;
    if (error instanceof DockerError) throw rejected(image, error.message);
    throw error;
  }
}

function rejected(image: string, words: string): EngineError {
  return new EngineError('REJECTED', `${describePull(image)}: ${words}`);
}

function describePull(image: string): string {
  return `image ${image} cannot be pulled from ${registryOf(image)}`;
}

/** The daemon's message, with advice if it is about the login. Registries may quote the credentials that they received. */
function rejectedPull(image: string, words: string, login: RegistryLogin['login']): EngineError {
  const clean = login ? words.replaceAll(login.password, '***') : words;
  if (isUnreachableRegistry(words)) return new EngineError('FAULT', `${describePull(image)}: ${clean}`);
  if (!/unauthorized|no basic auth|denied|authentication|40[13]\b/i.test(words)) return rejected(image, clean);
  const advice = login
    ? `the login of ${login.username} in the cluster's configuration was tried`
    : "the cluster's configuration has no login for it (options: registries)";
  return rejected(image, `${clean}; ${advice}`);
}

/**
 * The value of `X-Registry-Auth`: base64url with padding. A daemon that cannot decode it pulls without a login and reports
 * no error.
 */
export function authHeader(login: NonNullable<RegistryLogin['login']>): string {
  const text = Buffer.from(JSON.stringify(login)).toString('base64');
  return text.replaceAll('+', '-').replaceAll('/', '_');
}

function describe(image: string, progress: z.infer<typeof progressSchema>): string {
  const { current, total } = progress.progressDetail ?? {};
  const part = current !== undefined && total ? ` ${Math.floor((100 * current) / total)} %` : '';
  return `pulling image ${image}: ${[progress.id, progress.status].filter(Boolean).join(' ')}${part}`;
}

/** The registry's host: the first path segment if it looks like a host, by the same rule as Docker. */
export function registryOf(image: string): string {
  const [first = '', ...rest] = image.split('/');
  return rest.length > 0 && (/[.:]/.test(first) || first === 'localhost') ? first : 'docker.io';
}

/** Adds `:latest` to a name without tag or digest; without it, the daemon would pull every tag. */
export function withTag(image: string): string {
  const last = image.slice(image.lastIndexOf('/') + 1);
  return last.includes(':') || image.includes('@') ? image : `${image}:latest`;
}
