import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';

const MAX_BYTES = 150_000;
const dist = fileURLToPath(new URL('../dist', import.meta.url));
const isBuilt = existsSync(join(dist, 'index.html'));

function files(): { name: string; bytes: Buffer }[] {
  return readdirSync(dist, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => ({ name: entry.name, bytes: readFileSync(join(entry.parentPath, entry.name)) }));
}

test.skipIf(!isBuilt && process.env.CI !== 'true')('all files together have at most 150 kB compressed', () => {
  const total = files().reduce((sum, { bytes }) => sum + gzipSync(bytes, { level: 9 }).length, 0);
  expect(total).toBeGreaterThan(10_000);
  expect(total).toBeLessThanOrEqual(MAX_BYTES);
});

test.skipIf(!isBuilt && process.env.CI !== 'true')(
  'the page works under a policy without inline code, and offline',
  () => {
    const page = readFileSync(join(dist, 'index.html'), 'utf8');
    expect(page).not.toMatch(/<script(?![^>]*\ssrc=)|<style|\son\w+=|\sstyle=|https?:/);
    const code = files().filter(({ name }) => name.endsWith('.js'));
    expect(code.length).toBeGreaterThan(1);
    expect(code.filter(({ bytes }) => /\beval\(|new Function\(/.test(bytes.toString()))).toEqual([]);
  },
);

test('no source inserts text as markup', () => {
  const src = fileURLToPath(new URL('../src', import.meta.url));
  const sources = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((name) => /\.tsx?$/.test(name));
  const markup = /innerHTML|outerHTML|insertAdjacentHTML|document\.write|srcdoc/i;
  expect(sources.filter((name) => markup.test(readFileSync(join(src, name), 'utf8')))).toEqual([]);
});
