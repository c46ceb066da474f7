import { ServiceError, type VolumeFiles } from '@sluice/client';
import type { JsonType } from '@sluice/core';
import { describe, expect, test } from 'vitest';
import { createHandPlan, createStep } from '../../../run/test/plans.ts';
import { readResults } from '../../src/data/read-results.ts';
import { createRedactor } from '../../src/session/create-redactor.ts';
import type { HeldResults } from '../../src/session/run-usage.ts';

const held: HeldResults = { take: () => undefined, release: () => {} };

/** One result of the type, which the step left as this text. */
function read(type: JsonType, text: string | Uint8Array, redact = (shown: string) => shown) {
  const files: Pick<VolumeFiles, 'read'> = {
    read: async () => [Buffer.from(text)] as unknown as Awaited<ReturnType<VolumeFiles['read']>>,
  };
  return readResults(files as VolumeFiles, { directory: 'results', results: { r: { type, file: 'r' } }, redact, held });
}

describe('readResults', () => {
  test('readResults takes a value of its type', async () => {
    expect(await read('string', 'a\n')).toEqual({ ok: true, value: { r: 'a' } });
    expect(await read('array', '[1, {"a": null}]')).toEqual({ ok: true, value: { r: [1, { a: null }] } });
  });

  test.each([
    ['string', [0x6d, 0xfc, 0x6c]],
    ['string', [0xed, 0xa0, 0x80]],
    ['array', [0x5b, 0x22, 0xff, 0x22, 0x5d]],
  ] as const)('readResults rejects bytes that are not UTF-8, for type %s', async (type, bytes) => {
    expect(await read(type, Uint8Array.from(bytes))).toEqual({
      ok: false,
      error: `result r: its ${bytes.length} bytes are not text in UTF-8; write other data to an output`,
    });
  });

  test('readResults takes characters of UTF-8 as they are', async () => {
    expect(await read('string', 'müll \u{1f600} \0 \ufffd\n')).toEqual({
      ok: true,
      value: { r: 'müll \u{1f600} \0 \ufffd' },
    });
  });

  test('readResults names the path of a result that the step did not write', async () => {
    const read = async () => {
      throw new ServiceError('NOT_FOUND', 'there is no such file');
    };
    const results = { n: { type: 'number', file: 'count.txt' } } as const;
    const options = { directory: 'results', results, redact: (text: string) => text, held };
    expect(await readResults({ read } as unknown as VolumeFiles, options)).toEqual({
      ok: false,
      error: 'result n: the step did not write /sluice/results/count.txt',
    });
  });

  test('readResults takes a list of 100,000 items, and names the limit above', async () => {
    const items = Array.from({ length: 100_000 }, (_, n) => ({ id: n, path: `/data/${'x'.repeat(260)}/${n}.bam` }));
    expect(await read('array', JSON.stringify(items))).toEqual({ ok: true, value: { r: items } });
    expect(await read('string', 'x'.repeat(32 * 2 ** 20 + 1))).toEqual({
      ok: false,
      error:
        'result r: could not read it: the results of one attempt may have 33554432 bytes together (32 MiB); write larger data to an output',
    });
    expect(await read('string', 'x'.repeat(32 * 2 ** 20))).toMatchObject({ ok: true });
  });

  test('readResults rejects what is too deep, too large a number, or no JSON, each with its reason', async () => {
    const deep = `${'['.repeat(30_000)}${']'.repeat(30_000)}`;
    expect(await read('array', deep)).toEqual({
      ok: false,
      error: 'result r: its value is nested deeper than 64 levels',
    });
    expect(await read('array', '[1e999]')).toEqual({
      ok: false,
      error: 'result r: its value holds a number that is not finite',
    });
    expect(await read('array', '["9007199254740993", -9007199254740993]')).toEqual({
      ok: false,
      error:
        'result r: its value cannot be used: the integer -9007199254740993 is beyond 2^53 and would be rounded; write it as a string',
    });
    expect(await read('string', '9007199254740993')).toEqual({ ok: true, value: { r: '9007199254740993' } });
    expect(await read('number', '12345678901234567890.5')).toMatchObject({ ok: true });
    expect(await read('number', '1e999')).toMatchObject({ ok: false });
    expect(await read('array', '[1')).toMatchObject({
      ok: false,
      error: 'result r: "[1" is not JSON, as type array needs',
    });
  });

  test('readResults shows no part of a secret in a wrong result, wherever it is and however it is written', async () => {
    const secret = 'first "half"\n\tsecond half';
    const plan = createHandPlan([createStep('a', {})], { secrets: ['KEY'] });
    const { text: redact } = createRedactor(plan, () => secret);
    for (let before = 60; before < 90; before++) {
      const pad = 'x'.repeat(before);
      for (const text of [
        `${pad}${secret}`,
        JSON.stringify([pad, secret]),
        JSON.stringify({ [`${pad}${secret}`]: 1 }),
      ]) {
        const result = await read('number', text, redact);
        expect(result).toMatchObject({
          ok: false,
          error: expect.stringMatching(/^result r: .* as type number|is not of/),
        });
        expect(JSON.stringify(result)).not.toMatch(/firs|half/);
      }
    }
  });
});
