import type { RunApiEvents } from './operations.ts';

/** An event of the stream, with its data. `id` is for `lastEventId` of a later stream, which continues after it. */
export type RunApiEvent = {
  readonly [N in keyof RunApiEvents]: { readonly type: N; readonly id: string; readonly data: RunApiEvents[N] };
}[keyof RunApiEvents];

/** Reads a stream of server-sent events to its end. Events of other types are ignored: a later server may send more. */
export async function* readEvents(stream: ReadableStream<Uint8Array>): AsyncGenerator<RunApiEvent> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const block of stream) {
    text += decoder.decode(block, { stream: true });
    const whole = text.split(/\r?\n\r?\n/);
    text = whole.pop()!;
    for (const one of whole) {
      const event = parseEvent(one);
      if (event !== undefined) yield event;
    }
  }
}

const TYPES: readonly string[] = ['changes', 'snapshot', 'runs', 'missing'] satisfies RunApiEvent['type'][];

/** Undefined for a comment, and for what only sets the delay of a new connection. */
function parseEvent(text: string): RunApiEvent | undefined {
  const fields = new Map<string, string>();
  for (const line of text.split(/\r?\n/)) {
    const [, name, value] = /^(\w+): ?(.*)$/.exec(line) ?? [];
    if (name !== undefined)
      fields.set(name, name === 'data' && fields.has('data') ? `${fields.get('data')}\n${value}` : value!);
  }
  const type = fields.get('event');
  const data = fields.get('data');
  if (data === undefined || type === undefined || !TYPES.includes(type)) return undefined;
  return { type, id: fields.get('id') ?? '', data: JSON.parse(data) } as RunApiEvent;
}
