import { z } from 'zod';
import type { DockerApi } from './docker-api.ts';
import { parseJsonLines } from './docker-json-lines.ts';
import { CLUSTER_LABEL, KEY_LABEL } from './docker-request.ts';

const eventSchema = z.looseObject({
  Action: z.string().optional(),
  Actor: z
    .looseObject({
      Attributes: z.looseObject({ [KEY_LABEL]: z.string().optional(), signal: z.string().optional() }).optional(),
    })
    .optional(),
});

/** Actions that need no check: our own requests, and processes inside the container. */
const OWN_ACTIONS = /^(create|init|attach|start|exec_|top|health_status|mount|unmount)/;

/** Signals that end most programs: SIGINT, SIGQUIT, SIGKILL, SIGTERM. */
const ENDING_SIGNALS: ReadonlySet<string | undefined> = new Set(['2', '3', '9', '15']);

/** A change of one of our containers. */
export interface DockerEvent {
  readonly key: string;
  /** It received a signal that ends most programs, by a stop request or directly. */
  readonly isKill: boolean;
}

interface EventOptions {
  readonly clusterID: string;
  readonly signal: AbortSignal;
}

/** Opens the daemon's event stream, limited to this cluster's containers. It ends when the daemon does. */
export async function openEvents(api: DockerApi, options: EventOptions): Promise<AsyncIterable<DockerEvent>> {
  const filters = JSON.stringify({ type: ['container'], label: [`${CLUSTER_LABEL}=${options.clusterID}`] });
  return ownEvents(await api.stream('GET', '/events', { query: { filters }, signal: options.signal }));
}

async function* ownEvents(events: AsyncIterable<Uint8Array>): AsyncGenerator<DockerEvent> {
  for await (const event of parseJsonLines(events)) {
    const { Action = '', Actor } = eventSchema.parse(event);
    const key = Actor?.Attributes?.[KEY_LABEL];
    const isKill = Action === 'kill' && ENDING_SIGNALS.has(Actor?.Attributes?.signal);
    if (key !== undefined && !OWN_ACTIONS.test(Action)) yield { key, isKill };
  }
}
