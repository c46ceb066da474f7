import { backoffDelay } from '../backoff-delay.ts';
import type { LogCut } from '../container-service.ts';
import { createLogReading, type LogReading } from '../log-reading.ts';
import { isServiceError, ServiceError } from '../service-error.ts';
import { isTerminalPhase } from '../wire/container.ts';
import { parseLogCut } from '../wire/log-cut.ts';
import type { Api, ApiCall } from './api.ts';
import { sendError } from './send-error.ts';
import { BACKOFF, pause } from './try-again.ts';

/** Consecutive retries without a new byte before a broken stream fails: about half a minute. */
const FRUITLESS_TRIES = 8;

/** Which log to stream, and how to tell its end from a broken connection. */
export interface LogStreamOptions {
  readonly call: ApiCall;
  readonly tail: number | undefined;
  readonly follow: boolean;
  /** Longest pause of a stream that is not followed. */
  readonly bodyMs: number;
  /**
   * The container's phase, or undefined if it no longer exists; distinguishes the end of the log from a proxy's time
   * limit.
   */
  readonly phase: () => Promise<string | undefined>;
  /** As in `Containers.logs`. */
  readonly onCut?: ((cut: LogCut | undefined) => void) | undefined;
}

/**
 * The bytes of a log. A broken connection is resumed: the log only grows, so the bytes received so far are skipped. If the
 * service says that it has cut the log meanwhile, only those before the cut are. With `tail`, their position is unknown, and
 * the caller gets the error. Reads no faster than its consumer.
 */
export async function* logStream(api: Api, options: LogStreamOptions): AsyncGenerator<Uint8Array> {
  const { call, follow } = options;
  const reading = createLogReading();
  let sent = 0;
  let fruitless = 0;
  for (;;) {
    const before = sent;
    try {
      for await (const part of oneStream(api, { options, reading })) {
        sent += part.length;
        yield part;
      }
      if (!follow || options.tail !== undefined) return;
      const phase = await options.phase();
      if (phase === undefined || isTerminalPhase(phase)) return;
      fruitless = sent > before ? 1 : Math.min(fruitless + 1, FRUITLESS_TRIES);
    } catch (error) {
      if (!isServiceError(error, 'NO_REPLY') || (options.tail !== undefined && sent > 0)) throw error;
      fruitless = sent > before ? 1 : fruitless + 1;
      if (fruitless > FRUITLESS_TRIES) throw error;
    }
    await pause(backoffDelay({ ...BACKOFF, random: api.clock.random() }, fruitless), {
      clock: api.clock,
      what: call.what,
      signal: call.signal,
    });
  }
}

async function* oneStream(api: Api, { options, reading }: { options: LogStreamOptions; reading: LogReading }) {
  const { call } = options;
  const reply = await api.stream(call, { idleMs: options.follow ? 0 : options.bodyMs });
  const encoding = reply.headers['content-encoding'];
  if (encoding !== undefined && encoding !== 'identity') {
    reply.body.on('error', () => {}).destroy();
    throw new ServiceError('INVALID_REPLY', `could not ${call.what}: the log came encoded as ${String(encoding)}`);
  }
  const cut = parseLogCut(reply.headers);
  reading.begin();
  reading.note(cut);
  options.onCut?.(cut);
  try {
    for await (const part of reply.body as AsyncIterable<Uint8Array>) {
      const rest = reading.take(part);
      if (rest.length > 0) yield rest;
    }
  } catch (error) {
    throw sendError(error, call);
  }
  if (reading.isBehind) {
    throw new ServiceError('INVALID_REPLY', `could not ${call.what}: the log has become shorter than what was read`);
  }
}
