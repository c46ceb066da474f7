import { z } from 'zod';
import { EngineError } from '../engine.ts';
import { type DockerApi, DockerError } from './docker-api.ts';
import type { DockerConfig } from './docker-config.ts';

const progressSchema = z.looseObject({
  status: z.string().optional(),
  id: z.string().optional(),
  error: z.string().optional(),
  progressDetail: z.looseObject({ current: z.number().optional(), total: z.number().optional() }).optional(),
});

const imageSchema = z.looseObject({
  Config: z.looseObject({ Entrypoint: z.array(z.string()).nullish(), Cmd: z.array(z.string()).nullish() }).nullish(),
});

/** What an image runs by itself. */
export interface DockerImage {
  readonly entrypoint: readonly string[];
  readonly command: readonly string[];
}

/**
 * Pulls the image unless the daemon has it. What the daemon says of its progress goes to `onProgress`; a refusal is
 * thrown as such.
 */
export async function ensureDockerImage(api: DockerApi, image: string, options: PullOptions): Promise<DockerImage> {
  const present = await inspectImage(api, image);
  if (present) return present;
  await pull(api, image, options);
  const pulled = await inspectImage(api, image);
  if (pulled) return pulled;
  throw refused(image, 'the daemon says that it was pulled, and does not have it');
}

/** The whole command line: what is given takes the place of the image's `CMD`, and its entrypoint is kept. */
export function commandLine(image: DockerImage, command: readonly string[]): string[] {
  return [...image.entrypoint, ...(command.length > 0 ? command : image.command)];
}

async function pull(api: DockerApi, image: string, options: PullOptions): Promise<void> {
  options.onProgress(`pulling image ${image}`);
  const login = options.config.registries[registryOf(image)];
  try {
    const body = await api.stream('POST', '/images/create', {
      query: { fromImage: withTag(image) },
      headers: login ? { 'x-registry-auth': Buffer.from(JSON.stringify(login)).toString('base64url') } : {},
      signal: options.signal,
    });
    for await (const line of lines(body)) {
      const progress = progressSchema.parse(JSON.parse(line));
      if (progress.error !== undefined) throw refused(image, progress.error);
      options.onProgress(describe(image, progress));
    }
  } catch (error) {
    if (error instanceof DockerError) throw refused(image, error.message);
    throw error;
  }
}

interface PullOptions {
  readonly config: DockerConfig;
  readonly onProgress: (text: string) => void;
  readonly signal: AbortSignal;
}

async function inspectImage(api: DockerApi, image: string): Promise<DockerImage | undefined> {
  try {
    const { Config } = imageSchema.parse(await api.call('GET', `/images/${image}/json`));
    return { entrypoint: Config?.Entrypoint ?? [], command: Config?.Cmd ?? [] };
  } catch (error) {
    if (error instanceof DockerError && error.status === 404) return undefined;
    if (error instanceof DockerError) throw refused(image, error.message);
    throw error;
  }
}

function refused(image: string, words: string): EngineError {
  return new EngineError('REFUSED', `image ${image} cannot be pulled: ${words}`);
}

function describe(image: string, progress: z.infer<typeof progressSchema>): string {
  const { current, total } = progress.progressDetail ?? {};
  const part = current !== undefined && total ? ` ${Math.floor((100 * current) / total)} %` : '';
  return `pulling image ${image}: ${[progress.id, progress.status].filter(Boolean).join(' ')}${part}`;
}

/** The registry's host: the first segment where it looks like one, as Docker's own rule has it. */
export function registryOf(image: string): string {
  const [first = '', ...rest] = image.split('/');
  return rest.length > 0 && (/[.:]/.test(first) || first === 'localhost') ? first : 'docker.io';
}

/** Without a tag or a digest the daemon would pull every tag. */
export function withTag(image: string): string {
  const last = image.slice(image.lastIndexOf('/') + 1);
  return last.includes(':') || image.includes('@') ? image : `${image}:latest`;
}

async function* lines(body: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of body) {
    const parts = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = parts.pop() ?? '';
    for (const part of parts) if (part.trim() !== '') yield part;
  }
  if (rest.trim() !== '') yield rest;
}
