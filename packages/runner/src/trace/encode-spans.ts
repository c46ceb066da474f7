import type { Span } from './span.ts';

const KIND_INTERNAL = 1;
const STATUS_OK = 1;
const STATUS_ERROR = 2;

/** The body of a request to a collector, in the JSON encoding of OTLP. */
export function encodeSpans(spans: readonly Span[]): string {
  const resource = { attributes: encodeAttributes({ 'service.name': 'sluice' }) };
  const scopeSpans = [{ scope: { name: 'sluice' }, spans: spans.map(encodeSpan) }];
  return JSON.stringify({ resourceSpans: [{ resource, scopeSpans }] });
}

function encodeSpan({ traceId, spanId, parentSpanId, name, startAt, endAt, attributes, events, failure }: Span) {
  return {
    ...{ traceId, spanId, parentSpanId, name, kind: KIND_INTERNAL },
    startTimeUnixNano: encodeTime(startAt),
    endTimeUnixNano: encodeTime(endAt),
    attributes: encodeAttributes(attributes),
    events: events.map((event) => ({ timeUnixNano: encodeTime(event.at), name: event.name })),
    status: failure === undefined ? { code: STATUS_OK } : { code: STATUS_ERROR, message: failure },
  };
}

/** Nanoseconds as text: they are more than a number can represent exactly. */
function encodeTime(milliseconds: number): string {
  return String(BigInt(Math.round(milliseconds)) * 1_000_000n);
}

function encodeAttributes(attributes: Span['attributes']) {
  return Object.entries(attributes).flatMap(([key, value]) =>
    value === undefined ? [] : [{ key, value: encodeValue(value) }],
  );
}

function encodeValue(value: string | number | boolean) {
  if (typeof value === 'string') return { stringValue: value };
  return typeof value === 'number' ? { intValue: String(value) } : { boolValue: value };
}
