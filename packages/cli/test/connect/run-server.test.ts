import type { ApiCall, HttpConnection } from '@sluice/client';
import { expect, test } from 'vitest';
import type { z } from 'zod';
import { createRunServer } from '../../src/connect/run-server.ts';

test('a server lists all of its runs, whatever the number of pages', async () => {
  const entry = (runId: string) => ({ runId, pipeline: 'p', status: 'running', startedAt: '2026-01-01T00:00:00Z' });
  const pages = [{ runs: [entry('a'), entry('b')], nextPageToken: '2' }, { runs: [entry('c')] }];
  const tokens: unknown[] = [];
  const call = async <T>({ query }: ApiCall, schema: z.ZodType<T>) => {
    tokens.push(query?.pageToken);
    return schema.parse(pages[tokens.length - 1]);
  };
  const api = (() => ({ call })) as unknown as HttpConnection['api'];
  const server = createRunServer({ url: 'http://server', scope: { clusterID: 'c', accountID: 'a' }, api });
  expect((await server.listAll()).map(({ runId }) => runId)).toEqual(['a', 'b', 'c']);
  expect(tokens).toEqual([undefined, '2']);
});
