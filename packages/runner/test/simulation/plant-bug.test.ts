import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { PLANTED_REUSE_BUGS } from '../cache/planted-reuse-bugs.ts';
import { PLANTED_MODEL_BUGS } from '../model/planted-model-bugs.ts';
import { PLANTED_BUGS } from './planted-bugs.ts';
import { PLANTED_INPUT_BUGS } from './planted-input-bugs.ts';
import { PLANTED_LIST_BUGS } from './planted-list-bugs.ts';
import { PLANTED_REPLY_BUGS } from './planted-reply-bugs.ts';
import { PLANTED_REQUEST_BUGS } from './planted-request-bugs.ts';

const LISTS = [
  ...[PLANTED_BUGS, PLANTED_INPUT_BUGS, PLANTED_LIST_BUGS, PLANTED_REPLY_BUGS, PLANTED_REQUEST_BUGS],
  ...[PLANTED_MODEL_BUGS, PLANTED_REUSE_BUGS],
];
const SOURCE = path.resolve(import.meta.dirname, '../../src');

// Most bugs are planted only with `pnpm soak`. Without this test, a changed source would be noticed only there.
test('plantBug has one place in the source for each bug', async () => {
  const places = LISTS.flat().map(async ({ name, file, find }) => {
    const text = await readFile(path.join(SOURCE, file), 'utf8').catch(() => '');
    return text.split(find).length === 2 ? [] : [`${file}: ${name}`];
  });
  expect((await Promise.all(places)).flat()).toEqual([]);
});
