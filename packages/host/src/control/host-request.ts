import { z } from 'zod';

/** What another process of the home may request of the host, as one line of JSON. */
const hostRequest = z.discriminatedUnion('verb', [
  /** Execute a marked run. `env`: variables that replace those of the host for this run; kept in memory only. */
  z.object({ verb: z.literal('take'), runId: z.string(), env: z.record(z.string(), z.string()) }),
  z.object({ verb: z.literal('status') }),
  /** Create a link to the page of the host. */
  z.object({ verb: z.literal('link') }),
  /** Suspend all runs and end, unless the host has a listener. */
  z.object({ verb: z.literal('end') }),
]);

/** A request as it is sent. */
export const sentHostRequest = hostRequest.and(
  z.object({
    /** It has no effect afterward. Absent: the sender has no clock that cannot be set. */
    before: z.object({ id: z.string(), uptimeMs: z.number() }).optional(),
  }),
);

/** A request to the host of a home. */
export type HostRequest = z.infer<typeof hostRequest>;

/** The form of `HostStatus`. */
export const hostStatus = z.object({
  pid: z.number(),
  /** RFC 3339. */
  startedAt: z.string(),
  /** Whether it ends after its last run. */
  isBackground: z.boolean(),
  runs: z.array(z.object({ runId: z.string(), isExecuting: z.boolean(), message: z.string().optional() })),
});

/** The process that hosts the runs of a home. */
export type HostStatus = z.infer<typeof hostStatus>;

/** The form of a reply: every accepted request is answered with the host's status. */
export const hostReply = z.union([
  z.object({ error: z.string() }),
  z.object({ status: hostStatus, link: z.string().optional().describe('works once; absent without a page') }),
]);

/** The reply to a request. */
export type HostReply = z.infer<typeof hostReply>;
