import { describe, expect, test } from 'vitest';
import { findLogCut } from '../../src/containers/find-log-cut.ts';
import { LOCAL_STORAGE } from '../../src/storage/storage-access.ts';
import type { EngineRig } from './engine-rig.ts';

const LIMIT = 2_000_000;
/** The lines that tell of the limit. */
const TOLD = 1_000;

/** What is kept of more output than a log may have. */
export function describeLogLimit(rig: EngineRig): void {
  describe('logLimitBytes', () => {
    test('keeps the beginning and the end, says so between them, and disturbs no writer', async () => {
      // Each line tells its number; the command would not reach its end were a write of it to fail.
      const script = 'echo first; seq 1000000 1999999 || exit 9; echo last';
      const container = await rig.run(script, { logLimitBytes: LIMIT });
      expect(await container.end()).toEqual({ kind: 'exited', exitCode: 0 });
      const text = await container.text();
      expect(text.length).toBeGreaterThan(LIMIT / 2);
      expect(text.length).toBeLessThanOrEqual(LIMIT + TOLD);
      expect(text.startsWith('first\n1000000\n1000001\n')).toBe(true);
      expect(text.endsWith('\n1999998\n1999999\nlast\n')).toBe(true);
      expect(text).toContain(`\n[sluice] the log has reached its limit of ${LIMIT} bytes; `);
      const place = { path: container.launch.logPath, access: LOCAL_STORAGE };
      const cut = await findLogCut(place, LIMIT);
      expect(text.slice(cut?.start)).toMatch(/^\n\[sluice\] .*\d+ bytes were left out here\n\d{0,7}\n/);
    });

    test('changes nothing of a log that just fits', async () => {
      const container = await rig.run('seq 1000000 1200000', { logLimitBytes: LIMIT });
      const lines = (await container.text()).split('\n');
      expect(lines).toHaveLength(200_002);
      expect(lines[200_000]).toBe('1200000');
    });
  });
}
