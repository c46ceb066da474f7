import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Clock } from '../host/clock.ts';
import { RequestError } from '../protocol/request-error.ts';
import { parseJson } from './parse-json.ts';

/** A body that is not there by then is not awaited. */
const BODY_DEADLINE_MS = 60_000;
const FORM = /^application\/x-www-form-urlencoded(?:;|$)/;

type ParseDone = (error: Error | null, body?: unknown) => void;

/** What a body may be: JSON or a form, sent as it is, and all of it there in time. */
export function addRequestBodies(api: FastifyInstance, clock: Clock): void {
  api.removeAllContentTypeParsers();
  api.decorateRequest('bodyHasCome', () => {});
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
        'could not read the body because it is compressed; send it as it is',
      );
    }
    request.bodyHasCome = clock.after(BODY_DEADLINE_MS, () => void request.raw.destroy());
    request.raw.once('close', request.bodyHasCome);
  });
  // Not the `end` of the request, which never comes where no handler reads the body: a followed log was cut after a minute.
  api.addHook('preValidation', async (request) => request.bodyHasCome());
}

/** Whether the request says that its body is a form. */
export function isForm({ headers }: FastifyRequest): boolean {
  return FORM.test(headers['content-type'] ?? '');
}

export function unsupportedBody(): RequestError {
  return new RequestError(
    'BODY_TYPE_UNSUPPORTED',
    'could not read the body because its Content-Type is not application/json',
  );
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Ends the time that the body has to come in. */
    bodyHasCome: () => void;
  }
}
