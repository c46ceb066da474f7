import type { FastifyReply } from 'fastify';
import { ApiError } from '../errors/api-error.ts';

/**
 * The most bytes of the replies of a home that their clients have not read: eight of the largest. A reply is in memory until
 * then.
 */
export const MAX_UNREAD = 32 * 1024 * 1024;
/** A connection on which nothing of a reply can be sent for this time is cut. */
export const DRAIN_MS = 60_000;
const RETRY_AFTER_MS = 5_000;

/** The replies of a home that their clients have not read. */
export interface UnreadReplies {
  bytes: number;
}

/** Throws `ApiError` while nothing more can be sent, so that the reply is not even created. */
export function rejectUnread(unread: UnreadReplies, size = 0): void {
  // A reply that is larger than the limit can be sent alone.
  if (unread.bytes === 0 || unread.bytes + size < MAX_UNREAD) return;
  const message = `could not reply: clients of this home have not read ${unread.bytes} bytes of earlier replies; read or close these`;
  throw new ApiError(429, 'TOO_MANY_REPLIES', message).retryAfter(RETRY_AFTER_MS);
}

/** Sends JSON, which counts until the client has read it. Throws `ApiError` if there is too much. */
export function sendJson(
  reply: FastifyReply,
  { text, unread }: { readonly text: string; readonly unread: UnreadReplies },
): void {
  const bytes = Buffer.from(text);
  rejectUnread(unread, bytes.length);
  const { raw } = reply;
  let held = bytes.length;
  unread.bytes += held;
  const release = () => {
    unread.bytes -= held;
    held = 0;
  };
  raw.once('finish', release);
  raw.once('close', release);
  raw.setTimeout(DRAIN_MS, () => raw.destroy());
  void reply.type('application/json; charset=utf-8').send(bytes);
}
