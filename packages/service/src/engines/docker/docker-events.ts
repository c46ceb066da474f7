import { z } from 'zod';
import type { DockerApi } from './docker-api.ts';
import { CLUSTER_LABEL, KEY_LABEL } from './docker-container.ts';
import { parseJsonLines } from './docker-json-lines.ts';

const eventSchema = z.looseObject({
  Action: z.string().optional(),
  Actor: z.looseObject({ Attributes: z.looseObject({ [KEY_LABEL]: z.string().optional() }).optional() }).optional(),
});

/** What we do ourselves, and what is done inside: nothing that has not been looked at. */
const OWN_ACTIONS = /^(create|init|attach|start|exec_|top|health_status|mount|unmount)/;

interface EventOptions {
  readonly clusterID: string;
  readonly signal: AbortSignal;
}

/** Opens the daemon's event stream; gives the keys of our containers as something happens to them. */
export async function openEvents(api: DockerApi, options: EventOptions): Promise<AsyncIterable<string>> {
  const filters = JSON.stringify({ type: ['container'], label: [`${CLUSTER_LABEL}=${options.clusterID}`] });
  return keys(await api.stream('GET', '/events', { query: { filters }, signal: options.signal }));
}

async function* keys(events: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  for await (const event of parseJsonLines(events)) {
    const { Action = '', Actor } = eventSchema.parse(event);
    const key = Actor?.Attributes?.[KEY_LABEL];
    if (key !== undefined && !OWN_ACTIONS.test(Action)) yield key;
  }
}
