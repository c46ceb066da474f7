import { z } from 'zod';

const requestSchema = z.discriminatedUnion('verb', [
  z.strictObject({ verb: z.literal('cancel'), by: z.string() }),
  z.strictObject({ verb: z.literal('suspend') }),
  z.strictObject({ verb: z.literal('approve'), step: z.string(), approved: z.boolean(), by: z.string() }),
]);
/** It has no effect afterward. Absent: the sender has no clock that cannot be set. */
const sentSchema = z.object({
  before: z.strictObject({ id: z.string(), uptimeMs: z.number() }).exactOptional(),
});

/** What another process may request from the runner of a run. */
export type ControlRequest = z.infer<typeof requestSchema>;
/** A request as it is sent, as one line of JSON. */
export type SentRequest = ControlRequest & z.infer<typeof sentSchema>;

/** Undefined if it is no request, or one that only another version knows. */
export function parseControlRequest(line: string): SentRequest | undefined {
  try {
    const { before, ...request } = JSON.parse(line) as Record<string, unknown>;
    return { ...requestSchema.parse(request), ...sentSchema.parse(before === undefined ? {} : { before }) };
  } catch {
    return undefined;
  }
}
