import type { VolumeFiles } from '@sluice/client';
import type { JsonType } from '@sluice/core';
import { describe, expect, test } from 'vitest';
import { readResults } from '../../src/data/read-results.ts';

/** One result of the type, which the step left as this text. */
function read(type: JsonType, text: string) {
  const files: Pick<VolumeFiles, 'read'> = {
    read: async () => [Buffer.from(text)] as unknown as Awaited<ReturnType<VolumeFiles['read']>>,
  };
  return readResults(files as VolumeFiles, { directory: 'results', results: { r: { type, file: 'r' } } });
}

describe('readResults', () => {
  test('readResults takes a value of its type', async () => {
    expect(await read('string', 'a\n')).toEqual({ ok: true, value: { r: 'a' } });
    expect(await read('array', '[1, {"a": null}]')).toEqual({ ok: true, value: { r: [1, { a: null }] } });
  });

  test('readResults refuses what is too deep, too large a number, or no JSON, each with its reason', async () => {
    const deep = `${'['.repeat(30_000)}${']'.repeat(30_000)}`;
    expect(await read('array', deep)).toEqual({
      ok: false,
      error: 'result r: its value is nested deeper than 64 levels',
    });
    expect(await read('array', '[1e999]')).toEqual({
      ok: false,
      error: 'result r: its value holds a number that is not finite',
    });
    expect(await read('number', '1e999')).toMatchObject({ ok: false });
    expect(await read('array', '[1')).toMatchObject({
      ok: false,
      error: 'result r: "[1" is not JSON, as type array needs',
    });
  });
});
