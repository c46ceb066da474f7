import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { findUsageFault } from '../command-line/find-usage-fault.ts';

const PACKAGES = new URL('../../..', import.meta.url).pathname;

/** The words of every command that the sources suggest; `x` stands for what is known only when the command runs. */
function collectSuggestions(): (readonly [command: string, place: string])[] {
  return ['cli/src', 'runner/src'].flatMap((folder) =>
    readdirSync(join(PACKAGES, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts') && !file.startsWith('command-line'))
      .flatMap((file) => {
        const text = readFileSync(join(PACKAGES, folder, file), 'utf8').replace(/^\s*(?:\/\*\*|\*|\/\/).*$/gm, '');
        return [...findCalls(text), ...findTexts(text)].map((command) => [command, join(folder, file)] as const);
      }),
  );
}

/** `suggestCommand(['logs', '-r', runId, name])` and the same of `suggest`. */
function findCalls(text: string): string[] {
  return [
    ...text.matchAll(/\bsuggest(?:Command)?\(\s*\[?((?:'[^']*'|[\w.!?[\]]+)(?:,\s*(?:'[^']*'|[\w.!?[\]]+))*)/g),
  ].flatMap(([, list = '']) => {
    const words = list.split(/,\s*/).map((word) => (word.startsWith("'") ? word.slice(1, -1) : 'x'));
    // The options to repeat are no word of the command, and a call with a list from elsewhere says nothing here.
    const own = /,\s*options$/.test(list.replace(/\]$/, '')) ? words.slice(0, -1) : words;
    return /^[a-z]/.test(own[0] ?? '') && own[0] !== 'x' ? [own.join(' ')] : [];
  });
}

/** Commands in texts: `` `sluice run` `` and `with: sluice gc`. */
function findTexts(text: string): string[] {
  return [...text.matchAll(/(?:\\`|with: )sluice ([a-z][^`'\\;,]*)/g)].map(([, words = '']) =>
    words.replace(/\$\{[^}]*\}/g, 'x').trim(),
  );
}

const suggestions = collectSuggestions();

test('the sources suggest commands', () => {
  expect(suggestions.length).toBeGreaterThan(15);
});

test.each(suggestions)('the suggestion `sluice %s` of %s is a complete call', (command) => {
  const words = command.split(' ');
  expect(words.filter((word) => /^[A-Z]{2,}$/.test(word))).toEqual([]);
  expect(findUsageFault(words)).toBeUndefined();
});
