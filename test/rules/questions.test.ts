import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const page = readFileSync(new URL('../../docs/questions.md', import.meta.url), 'utf8');
const questions = page
  .split(/^### /m)
  .slice(1)
  .map((section) => ({ question: section.split('\n', 1)[0]!, answer: section.slice(section.indexOf('\n')) }));

test('docs/questions.md answers at least 25 questions', () => {
  expect(questions.length).toBeGreaterThanOrEqual(25);
});

// Whether the page and the heading exist is a rule of check-rules (live-links).
test.each(questions)('$question has a short answer that leads to its page', ({ question, answer }) => {
  expect(question).toMatch(/[?]$/);
  expect(answer).toMatch(/\]\((?:\.\.\/)?[A-Za-z]+\.md(?:#[a-z-]+)?\)/);
  expect(answer.replace(/^#.*|```[^`]*```/gms, '').split(' ').length).toBeLessThan(120);
});
