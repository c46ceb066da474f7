import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { findUsageFault } from './find-usage-fault.ts';

const readPage = (page: string) => readFileSync(new URL(`../../../../docs/${page}`, import.meta.url), 'utf8');

const readBlocks = (page: string) => {
  return [...readPage(page).matchAll(/^```(\w+)\n(.*?)^```$/gms)].map(([, language = '', block = '']) => ({
    language,
    block,
  }));
};

const lines = ['ci.md', 'assistants.md'].flatMap((page) =>
  readBlocks(page)
    .flatMap(({ block }) => block.split('\n'))
    .flatMap((line) => /^(?: *- (?:run: )?)?sluice (.*)$/.exec(line)?.[1] ?? []),
);

test.each(lines)('the documented command `sluice %s` is a call of its command', (line) => {
  expect(findUsageFault(line.split(' '))).toBeUndefined();
});

const answered = [
  ...readPage('questions.md').matchAll(/`sluice ([a-z][^`]*)`/g),
  ...readPage('questions.md').matchAll(/^sluice (.*)$/gm),
].map(([, line = '']) => line);

test.each(answered)('the answer `sluice %s` is a call of its command', (line) => {
  // For a shell, what is quoted is one word.
  expect(findUsageFault(line.replaceAll(/'[^']*'|"[^"]*"/g, 'a=b').split(' '))).toBeUndefined();
});

test('the documented configuration of an assistant starts the server', () => {
  const [configuration] = readBlocks('assistants.md').filter(({ language }) => language === 'json');
  const { mcpServers } = JSON.parse(configuration!.block);
  expect(mcpServers.sluice.command).toBe('sluice');
  expect(findUsageFault(mcpServers.sluice.args)).toBeUndefined();
  expect(lines).toHaveLength(5);
});
