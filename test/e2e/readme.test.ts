import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, test } from 'vitest';
import { COMMAND } from './workplace-rig.ts';

const PAGE = fileURLToPath(new URL('../../README.md', import.meta.url));
/** A reader waits for a second. Here it is as long as it takes until a container runs, and until the process has ended. */
const PAUSES = [
  [' sleep 1;', ' until sluice show 2>&1 | grep -q "search.*running"; do :; done;'],
  ['kill -9 $!', '{ kill -9 $!; wait; } 2>/dev/null'],
] as const;
const directory = mkdtempSync(join(tmpdir(), 'sluice-readme-'));

afterEach(() => rmSync(directory, { recursive: true, force: true, maxRetries: 10 }));

// UPDATE_PAGES=1 writes the outputs into the page.
test('README.md shows what its commands print', () => {
  const page = readFileSync(PAGE, 'utf8');
  const [tools, place] = [join(directory, 'bin'), join(directory, 'place')];
  mkdirSync(tools);
  mkdirSync(place);
  writeFileSync(join(tools, 'sluice'), `#!/bin/sh\nexec "${process.execPath}" "${COMMAND}" "$@"\n`);
  chmodSync(join(tools, 'sluice'), 0o755);
  const file = /`pipeline\.yaml`:\n\n```yaml\n(.*?)^```$/ms.exec(page)?.[1];
  expect(file?.trimEnd().split('\n')).toHaveLength(12);
  writeFileSync(join(place, 'pipeline.yaml'), file!);
  const { CI, GITHUB_ACTIONS, FORCE_COLOR, SLUICE_HOME, ...env } = process.env;
  const shell = {
    cwd: place,
    env: { ...env, PATH: `${tools}:${env.PATH}`, XDG_CONFIG_HOME: directory, XDG_STATE_HOME: directory },
    encoding: 'utf8',
  } as const;
  const renewed = page.replace(/^```console\n(.*?)^```$/gms, (_block, body: string) => {
    const lines = body.split('\n').filter((line) => line.startsWith('$ '));
    const shown = lines.map((line) => {
      const { status, stdout, stderr } = spawnSync('bash', ['-c', withPauses(line.slice(2))], shell);
      expect(status, `${line}\n${stdout}${stderr}`).toBe(0);
      return `${line}\n${stdout}`;
    });
    return `\`\`\`console\n${shown.join('')}\`\`\``;
  });
  if (process.env.UPDATE_PAGES === '1') writeFileSync(PAGE, renewed);
  expect(comparable(readFileSync(PAGE, 'utf8'))).toEqual(comparable(renewed));
});

function withPauses(line: string): string {
  return PAUSES.reduce((text, [shown, run]) => text.replace(shown, () => run), line);
}

/** The lines in any order of cells, without times, IDs and the widths of columns. */
function comparable(page: string): string[] {
  return page
    .replaceAll(/\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}/g, 'DATE')
    .replaceAll(/\b(?:\d+m )?[\d.]+ ?(?:ms|s)\b/g, 'TIME')
    .replaceAll(/^[a-z2-7]{13}(?= )|(?<=\(run )[a-z2-7]{13}(?=\))/gm, 'ID')
    .replaceAll(/ {2,}/g, ' ')
    .split('\n')
    .sort();
}
