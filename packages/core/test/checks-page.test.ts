import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parsePipeline, renderDiagnostic } from '../src/index.ts';
import { EXAMPLES } from './checks-page-examples.ts';

const PAGE = new URL('../../../docs/checks.md', import.meta.url);

const HEAD = `# Checks

Everything that \`sluice check\` finds in a pipeline file, each with a bad example and what is said of it. All faults of a
file are reported at once, in the file's order. The name in brackets is the check's stable code.

This page is made by \`packages/core/test/checks-page.test.ts\`, which fails when it is stale; \`UPDATE_PAGES=1\` renews it.
`;

function renderPage(): string {
  const sections = EXAMPLES.map(({ title, about, text }) => {
    const parsed = parsePipeline({ file: 'pipeline.yaml', text });
    const diagnostics = parsed.ok ? parsed.value.warnings : parsed.error;
    const output = diagnostics.map((diagnostic) => renderDiagnostic(diagnostic, { text })).join('\n\n');
    return `## ${title}\n\n${about}\n\n\`\`\`yaml\n${text.trimEnd()}\n\`\`\`\n\n\`\`\`text\n${output}\n\`\`\`\n`;
  });
  return [HEAD, ...sections].join('\n');
}

describe('docs/checks.md', () => {
  it('shows what the checks really say', () => {
    const page = renderPage();
    if (process.env.UPDATE_PAGES === '1') writeFileSync(PAGE, page);
    expect(readFileSync(PAGE, 'utf8')).toBe(page);
  });

  for (const { title, text, codes } of EXAMPLES) {
    it(`example "${title}" is found, and nothing else`, () => {
      const parsed = parsePipeline({ file: 'pipeline.yaml', text });
      const diagnostics = parsed.ok ? parsed.value.warnings : parsed.error;
      expect(diagnostics.map(({ code }) => code)).toEqual(codes);
      expect(diagnostics.every(({ range }) => range !== undefined)).toBe(true);
    });
  }
});
