import { SluiceError } from '@sluice/core';
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import type { RunApiEvents } from './operations.ts';

/** An event of the stream, with its data. `id` is for `lastEventId` of a later stream, which continues after it. */
export type RunApiEvent = {
  readonly [N in keyof RunApiEvents]: { readonly type: N; readonly id: string; readonly data: RunApiEvents[N] };
}[keyof RunApiEvents];

/** The most characters of an event; a snapshot of a million cells has about one for each. */
const MAX_EVENT = 64 * 1024 * 1024;

/**
 * Reads a stream of server-sent events to its end. Events of other types are ignored: a later server may send more. `onRetry`
 * gets the delay in milliseconds that the server wants before a new connection.
 */
export async function* readEvents(
  stream: ReadableStream<Uint8Array>,
  onRetry: (ms: number) => void,
): AsyncGenerator<RunApiEvent> {
  const decoder = new TextDecoder();
  const messages: EventSourceMessage[] = [];
  let isTooLarge = false;
  const parser = createParser({
    maxBufferSize: MAX_EVENT,
    onEvent: (message) => messages.push(message),
    onRetry,
    onError({ type }) {
      if (type === 'max-buffer-size-exceeded') isTooLarge = true;
    },
  });
  for await (const block of stream) {
    parser.feed(decoder.decode(block, { stream: true }));
    for (const message of messages.splice(0)) {
      const event = readEvent(message);
      if (event !== undefined) yield event;
    }
    if (isTooLarge) throw new SluiceError('INVALID_REPLY', `an event has more than ${MAX_EVENT} characters`);
  }
}

const TYPES: readonly string[] = ['changes', 'snapshot', 'runs', 'missing'] satisfies RunApiEvent['type'][];

function readEvent({ event: type, id = '', data }: EventSourceMessage): RunApiEvent | undefined {
  if (type === undefined || !TYPES.includes(type)) return undefined;
  return { type, id, data: JSON.parse(data) } as RunApiEvent;
}
