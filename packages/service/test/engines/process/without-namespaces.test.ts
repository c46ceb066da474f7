import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { WITHOUT_NAMESPACES, WITHOUT_TRANSLATION } from '../../../src/engines/process/without-namespaces.ts';

test.each([WITHOUT_NAMESPACES, WITHOUT_TRANSLATION])(
  'the documentation has the warning in the same words: %s',
  async (warning) => {
    const guide = await readFile(new URL('../../../../../docs/engines.md', import.meta.url), 'utf8');
    expect(guide).toContain(`> ${warning}\n`);
  },
);
