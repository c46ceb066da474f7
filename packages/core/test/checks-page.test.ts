import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type Diagnostic, parsePipeline, renderDiagnostic } from '../src/index.ts';

const PAGE = new URL('../../../docs/checks.md', import.meta.url);
const EXAMPLE = /^```yaml\n(?<text>.*?)^```\n\n```text\n.*?^```$/gms;

function check(text: string): readonly Diagnostic[] {
  const parsed = parsePipeline({ file: 'pipeline.yaml', text });
  return parsed.ok ? parsed.value.warnings : parsed.error;
}

/** The page's own examples, each with what is said of it now. */
function renew(page: string): string {
  return page.replace(EXAMPLE, (_, text: string) => {
    const said = check(text).map((diagnostic) => renderDiagnostic(diagnostic, { text }));
    return `\`\`\`yaml\n${text}\`\`\`\n\n\`\`\`text\n${said.join('\n\n')}\n\`\`\``;
  });
}

describe('docs/checks.md', () => {
  const page = readFileSync(PAGE, 'utf8');
  const sections = page.split(/^## /m).slice(1);

  it('shows what the checks really say', () => {
    const renewed = renew(page);
    if (process.env.UPDATE_PAGES === '1') writeFileSync(PAGE, renewed);
    expect(readFileSync(PAGE, 'utf8')).toBe(renewed);
    expect(sections).not.toEqual([]);
  });

  it.each(sections.map((section) => [section.split('\n')[0], section]))(
    '%s: has one example of a fault',
    (_, section) => {
      const [example, ...more] = [...section!.matchAll(EXAMPLE)];
      expect(more).toEqual([]);
      const diagnostics = check(example?.groups?.text ?? '');
      expect(diagnostics).not.toEqual([]);
      expect(diagnostics.every(({ range }) => range !== undefined)).toBe(true);
    },
  );
});
