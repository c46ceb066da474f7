import { describe, expect, it } from 'vitest';
import { type Diagnostic, renderDiagnostic } from '../../src/index.ts';

function diagnostic(over: Partial<Diagnostic>): Diagnostic {
  return {
    code: 'unknown-key',
    severity: 'error',
    message: 'unknown key `b`',
    range: { file: 'p.yaml', line: 2, column: 3, endLine: 2, endColumn: 4 },
    ...over,
  };
}

describe('renderDiagnostic', () => {
  it('renderDiagnostic shows place, reason, frame, hint and related places', () => {
    const range = { file: 'p.yaml', line: 1, column: 1, endLine: 1, endColumn: 2 };
    const text = renderDiagnostic(diagnostic({ hint: 'did you mean `c`?', related: [{ message: 'here', range }] }), {
      text: 'a:\n  b: 1\n',
    });
    expect(text).toBe(`p.yaml:2:3: error: unknown key \`b\` [unknown-key]
  1 | a:
  2 |   b: 1
    |   ^
  hint: did you mean \`c\`?
  p.yaml:1:1: here`);
  });

  it('renderDiagnostic does without a place and without a text', () => {
    const { range: _range, ...placeless } = diagnostic({});
    expect(renderDiagnostic(placeless, { text: 'a' })).toBe('error: unknown key `b` [unknown-key]');
    expect(renderDiagnostic(diagnostic({ severity: 'warning' }))).toBe(
      'p.yaml:2:3: warning: unknown key `b` [unknown-key]',
    );
  });

  it('renderDiagnostic puts the caret below its letter after tabs and in long lines', () => {
    expect(renderDiagnostic(diagnostic({}), { text: 'a\n\t b' }).split('\n').at(-1)).toBe('    | \t ^');
    const range = { file: 'p.yaml', line: 1, column: 501, endLine: 1, endColumn: 504 };
    const lines = renderDiagnostic(diagnostic({ range }), { text: `${'x'.repeat(500)}abc${'y'.repeat(500)}` }).split(
      '\n',
    );
    const column = (lines[2] ?? '').indexOf('^');
    expect((lines[1] ?? '').slice(column, column + 3)).toBe('abc');
    expect(lines[1]?.length).toBeLessThan(140);
  });

  it('renderDiagnostic lets no control character of the file reach the terminal', () => {
    const text = renderDiagnostic(diagnostic({}), { text: 'a\n\u001b[2Jb\u0007\u009b\r' });
    expect(text).not.toMatch(/[^\n\P{Cc}]/u);
    const named = diagnostic({ message: 'unknown key `\u001b[2J`', hint: 'did you mean `\u009b1m`?' });
    expect(renderDiagnostic(named)).not.toMatch(/[^\n\P{Cc}]/u);
  });

  it('renderDiagnostic uses colour only when asked', () => {
    expect(renderDiagnostic(diagnostic({}), { color: true })).toContain('\u001b[31m');
    expect(renderDiagnostic(diagnostic({}))).not.toContain('\u001b');
  });
});
