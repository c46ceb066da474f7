import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { instanceTypeListSchema, volumePageSchema, volumeSchema } from '@sluice/client';
import { describe, expect, it } from 'vitest';

const FILE = fileURLToPath(new URL('../../../../../shared/data/api/observed-client-requests.json', import.meta.url));

interface Recorded {
  readonly request: { readonly method: string; readonly url: string };
  readonly reply_accepted_by_client: { readonly body: unknown };
}

function recorded(): Recorded[] {
  if (!existsSync(FILE)) {
    if (process.env.CI === 'true') throw new Error(`cannot test without ${FILE}`);
    return [];
  }
  return JSON.parse(readFileSync(FILE, 'utf8')).recorded;
}

const SCHEMAS = new Map<string, { parse(body: unknown): unknown }>([
  ['GET instanceTypes', instanceTypeListSchema],
  ['GET volumes', volumePageSchema],
  ['POST volumes', volumeSchema],
]);

describe.skipIf(recorded().length === 0)('replies that another client is known to accept', () => {
  it('schemas: read each of them, with every field that came', () => {
    let checked = 0;
    for (const { request, reply_accepted_by_client: reply } of recorded()) {
      const name = `${request.method} ${request.url.split('/').at(-1)}`;
      const schema = SCHEMAS.get(name);
      if (schema === undefined) continue;
      expect(schema.parse(reply.body), name).toEqual(reply.body);
      checked += 1;
    }
    expect(checked).toBe(4);
  });
});
