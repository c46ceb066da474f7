import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
// @ts-expect-error A script, which has no types.
import { movePackageDirectories } from '../../scripts/package-directories.mjs';

const MOVED = {
  store: '--config.store-dir=/clone/.tools/pnpm-store-dir',
  cache: '--config.cache-dir=/clone/.tools/pnpm-cache-dir',
  state: '--config.state-dir=/clone/.tools/pnpm-state-dir',
};

describe('movePackageDirectories', () => {
  let home: string;
  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), 'sluice-home-'));
  });
  afterEach(() => rmSync(home, { recursive: true }));

  const move = (at = home, env = {}): string[] => movePackageDirectories({ home: at, env, tools: '/clone/.tools' });
  /** Even root can create nothing below a file; `.ci/run` has a read-only directory for an ordinary user. */
  const block = (path: string) => {
    writeFileSync(join(home, path), '');
    return join(home, path);
  };

  test('leaves pnpm its directories in a home that can be written', () => {
    expect(move()).toEqual([]);
    mkdirSync(join(home, '.cache', 'pnpm'), { recursive: true });
    expect(move()).toEqual([]);
  });

  test('moves all of them if the home cannot be written', () => {
    expect(move(block('file'))).toEqual(Object.values(MOVED));
  });

  test('moves only what cannot be created', () => {
    block('.cache');
    expect(move()).toEqual([MOVED.cache]);
  });

  test('follows the variables that name other places', () => {
    const blocked = block('file');
    const elsewhere = { XDG_DATA_HOME: home, XDG_CACHE_HOME: home, XDG_STATE_HOME: home };
    expect(move(blocked, elsewhere)).toEqual([]);
    expect(move(home, { XDG_DATA_HOME: blocked })).toEqual([MOVED.store]);
  });
});
