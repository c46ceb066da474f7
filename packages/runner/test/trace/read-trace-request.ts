import { z } from 'zod';

/** A span as a collector has received it. */
export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: Readonly<Record<string, string | number | boolean>>;
  readonly events: readonly string[];
  readonly error?: string;
}

// `ExportTraceServiceRequest` of opentelemetry-proto 1.x in its JSON encoding: IDs are hexadecimal, 64-bit numbers are text, and
// enumerations are numbers.
const nanoseconds = z.string().regex(/^[1-9]\d{18}$/);
const attributes = z
  .array(
    z.strictObject({
      key: z.string().min(1),
      value: z.union([
        z.strictObject({ stringValue: z.string() }),
        z.strictObject({ boolValue: z.boolean() }),
        z.strictObject({ intValue: z.string().regex(/^-?\d+$/) }),
      ]),
    }),
  )
  .refine((given) => new Set(given.map(({ key }) => key)).size === given.length, 'keys must be unique');
const span = z.strictObject({
  traceId: z.string().regex(/^(?!0{32})[0-9a-f]{32}$/),
  spanId: z.string().regex(/^(?!0{16})[0-9a-f]{16}$/),
  parentSpanId: z
    .string()
    .regex(/^(?!0{16})[0-9a-f]{16}$/)
    .optional(),
  name: z.string().min(1),
  kind: z.int().min(1).max(5),
  startTimeUnixNano: nanoseconds,
  endTimeUnixNano: nanoseconds,
  attributes,
  events: z.array(z.strictObject({ timeUnixNano: nanoseconds, name: z.string() })),
  status: z.strictObject({ code: z.int().min(0).max(2), message: z.string().optional() }),
});
const request = z.strictObject({
  resourceSpans: z.array(
    z.strictObject({
      resource: z.strictObject({ attributes }),
      scopeSpans: z.array(z.strictObject({ scope: z.strictObject({ name: z.string() }), spans: z.array(span).min(1) })),
    }),
  ),
});

/** Reads the body of a request as a collector does; throws if it does not conform to the protocol. */
export function readTraceRequest(body: string): ReceivedSpan[] {
  return request.parse(JSON.parse(body)).resourceSpans.flatMap(({ resource, scopeSpans }) => {
    if (readAttributes(resource.attributes)['service.name'] !== 'sluice') throw new Error('another service');
    return scopeSpans.flatMap(({ spans }) => spans.map(readSpan));
  });
}

function readSpan({
  status,
  startTimeUnixNano,
  endTimeUnixNano,
  kind: _,
  ...given
}: z.infer<typeof span>): ReceivedSpan {
  const [startMs, endMs] = [Number(startTimeUnixNano) / 1e6, Number(endTimeUnixNano) / 1e6];
  if (endMs < startMs) throw new Error(`${given.name} ends before it starts`);
  const { traceId, spanId, parentSpanId, name } = given;
  return {
    ...{ traceId, spanId, name, startMs, endMs },
    ...(parentSpanId !== undefined && { parentSpanId }),
    attributes: readAttributes(given.attributes),
    events: given.events.map((event) => event.name),
    ...(status.code === 2 && { error: status.message ?? '' }),
  };
}

function readAttributes(given: z.infer<typeof attributes>): Record<string, string | number | boolean> {
  return Object.fromEntries(
    given.map(({ key, value }) => {
      if ('intValue' in value) return [key, Number(value.intValue)];
      return [key, 'stringValue' in value ? value.stringValue : value.boolValue];
    }),
  );
}
