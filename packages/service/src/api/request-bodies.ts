import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Clock } from '../protocol/clock.ts';
import { RequestError } from '../protocol/request-error.ts';
import { parseJson } from './parse-json.ts';

/** A connection whose body has not arrived by then is closed. */
const BODY_DEADLINE_MS = 60_000;
const FORM = /^application\/x-www-form-urlencoded(?:;|$)/;

type ParseDone = (error: Error | null, body?: unknown) => void;

/** Accepts JSON or a form, uncompressed, that arrives completely within 60 s. */
export function addRequestBodies(api: FastifyInstance, clock: Clock): void {
  api.removeAllContentTypeParsers();
  api.decorateRequest('bodyReceived', () => {});
  const parse = (read: (bytes: Buffer) => unknown) => (_: FastifyRequest, bytes: Buffer, done: ParseDone) => {
    try {
      done(null, read(bytes));
    } catch (error) {
      done(error as Error);
    }
  };
  api.addContentTypeParser(/^application\/(?:[\w.-]+\+)?json(?:;|$)/, { parseAs: 'buffer' }, parse(parseJson));
  api.addContentTypeParser(
    FORM,
    { parseAs: 'buffer' },
    parse((bytes) => Object.fromEntries(new URLSearchParams(bytes.toString()))),
  );
  api.addContentTypeParser(
    '*',
    { parseAs: 'buffer' },
    parse((bytes) => {
      if (bytes.length === 0) return undefined;
      throw unsupportedBody();
    }),
  );
  api.addHook('onRequest', async (request) => {
    const encoding = request.headers['content-encoding'];
    if (encoding !== undefined && encoding !== 'identity') {
      throw new RequestError(
        'BODY_TYPE_UNSUPPORTED',
        'could not read the body because it is compressed; send it uncompressed',
      );
    }
    request.bodyReceived = clock.after(BODY_DEADLINE_MS, () => void request.raw.destroy());
    request.raw.once('close', request.bodyReceived);
  });
  // Not on `end` of the request, which is never emitted if no handler reads the body: a followed log was cut after a minute.
  api.addHook('preValidation', async (request) => request.bodyReceived());
}

/** Whether the request's Content-Type is that of a form. */
export function isForm({ headers }: FastifyRequest): boolean {
  return FORM.test(headers['content-type'] ?? '');
}

/** The error for a body that is not JSON. */
export function unsupportedBody(): RequestError {
  return new RequestError(
    'BODY_TYPE_UNSUPPORTED',
    'could not read the body because its Content-Type is not application/json',
  );
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Stops the timeout for the body. */
    bodyReceived: () => void;
  }
}
