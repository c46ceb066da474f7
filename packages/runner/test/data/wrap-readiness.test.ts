import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { wrapReadiness } from '../../src/data/wrap-readiness.ts';

test('wrapReadiness runs the service with its own words, whatever they contain', async () => {
  const own = ['printf', '[%s]', 'a b', '$HOME', '', '-x', "it's"];
  const [program = '', ...words] = wrapReadiness(own, ['false', 'x y']);
  // The check continues until the container ends; here nothing would end it.
  const [, script = '', ...rest] = words;
  const once = script
    .replace('until "$@" > /dev/null 2>&1; do sleep 1; done', 'echo "$#" "$@" >&2')
    .replace(/: > \S+/, ':');
  const { stdout, stderr } = await promisify(execFile)(program, ['-c', once, ...rest]);
  expect(stdout).toBe("[a b][$HOME][][-x][it's]");
  expect(stderr).toBe('2 false x y\n');
});
