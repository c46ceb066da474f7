import { describe, expect, it } from 'vitest';
import { parsePipeline } from '../../src/index.ts';

describe('parseJson', () => {
  it('rejects integers that would be rounded, and no text or fraction that looks like one', () => {
    const json = (text: string) =>
      parsePipeline({
        file: 'p.json',
        text: `{"version":1,"name":"a","params":{"n":${text}},"steps":{"s":{"command":["x"]}}}`,
      });
    expect(json('[0, "\\"9007199254740993", -9007199254740993]')).toMatchObject({
      error: [{ code: 'bad-number', message: expect.stringContaining('-9007199254740993') }],
    });
    expect(json('"9007199254740993"').ok).toBe(true);
    expect(json('9007199254740993.0').ok).toBe(true);
  });
});
