import type { LogCut } from '@sluice/client';
import { expect, onTestFinished, test } from 'vitest';
import { openLogSpool } from '../../src/runs/log-spool.ts';

const REF = { clusterID: 'c', accountID: 'a', id: 'x' };

/** A service that sends this log from its beginning, and says where it has last cut it. */
function createLog() {
  const spool = openLogSpool();
  onTestFinished(() => spool.close());
  const log = { text: '', cut: undefined as LogCut | undefined, blockBytes: 4 };
  const read = async function* (onCut: (cut: LogCut | undefined) => void) {
    onCut(log.cut);
    const bytes = Buffer.from(log.text);
    for (let at = 0; at < bytes.length; at += log.blockBytes) yield bytes.subarray(at, at + log.blockBytes);
  };
  const source = { ref: REF, hasEnded: true, read };
  return {
    log,
    /** What the copy contains when the log is opened again. */
    async copy(hasEnded = false) {
      const opened = await spool.open({ ...source, hasEnded });
      const parts: Uint8Array[] = [];
      if (opened.size > 0) for await (const part of opened.read({ start: 0, end: opened.size })) parts.push(part);
      return { text: Buffer.concat(parts).toString(), cut: opened.cut };
    },
  };
}

test('openLogSpool adds what a log has beyond its copy', async () => {
  const { log, copy } = createLog();
  log.text = 'one\ntwo\n';
  expect(await copy()).toEqual({ text: log.text, cut: undefined });
  log.text += 'three\n';
  expect(await copy(true)).toEqual({ text: log.text, cut: undefined });
});

test.each([1, 4, 5, 100])(
  'openLogSpool replaces what follows the cut of a log that was cut and has grown since, in blocks of %i bytes',
  async (blockBytes) => {
    const { log, copy } = createLog();
    log.blockBytes = blockBytes;
    log.text = 'one\ntwo\nthree\nfour\n';
    await copy();
    log.text = 'one\ntwo\n\n[sluice] 6 bytes were left out here\nfour\nfive\nsix\n';
    log.cut = { start: 8, id: '6' };
    expect(await copy(true)).toEqual({ text: log.text, cut: log.cut });
  },
);

test('openLogSpool keeps what it has if the cut is older than the copy', async () => {
  const { log, copy } = createLog();
  log.cut = { start: 8, id: '6' };
  log.text = 'one\ntwo\n\n[sluice] left out\n';
  await copy();
  const before = log.text;
  // Not what a service does: it shows which part is read from the copy.
  log.text = `ONE\ntwo\n\n[sluice] left out\nmore\n`;
  expect((await copy(true)).text).toBe(`${before}more\n`);
});
