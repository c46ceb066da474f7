import { type Diagnostic, renderDiagnostic } from '@sluice/core';
import { printableLine } from '@sluice/run';
import type { CommandContext, GlobalOptions } from '../context/command-context.ts';
import { isGithubLog, pathInRepository } from '../context/github-actions.ts';
import { renderValue } from '../json/render-value.ts';
import { workflowCommand } from '../text/workflow-command.ts';
import type { SourceTexts } from './load-plan.ts';

/** The output for people stays short; the output for programs stays bounded even for a hostile file. */
const MOST_SHOWN = 20;
const MOST_AS_JSON = 1000;

/**
 * Prints diagnostics with code frames to stderr, and on GitHub Actions as annotations; with `--json`, as one JSON value
 * per line to stdout. If there are many, prints only the first, errors before warnings, and the number of the others.
 */
export function printDiagnostics(
  diagnostics: readonly Diagnostic[],
  texts: SourceTexts,
  { context, options }: { context: CommandContext; options: Pick<GlobalOptions, 'json'> },
): void {
  const { terminal } = context;
  const { json } = options;
  const isGithub = isGithubLog(context, options);
  const shown = chooseShown(diagnostics, json === true ? MOST_AS_JSON : MOST_SHOWN);
  for (const diagnostic of shown) {
    if (json === true) {
      terminal.out(renderValue('diagnostic', diagnostic));
      continue;
    }
    terminal.err(...linesOf(diagnostic, { texts, color: terminal.color }), '');
    if (isGithub) terminal.err(renderAnnotation(diagnostic, context));
  }
  const others = omit(diagnostics, shown);
  if (others.length === 0) return;
  if (json === true) terminal.out(renderValue('omitted', count(others)));
  else terminal.err(`and ${countDiagnostics(others, 'more ')}`, '');
}

/** The first diagnostics with code frames, for a log or a reply. */
export function renderDiagnostics(diagnostics: readonly Diagnostic[], texts: SourceTexts): string {
  const shown = chooseShown(diagnostics, MOST_SHOWN);
  const others = omit(diagnostics, shown);
  return [
    ...shown.map((diagnostic) => linesOf(diagnostic, { texts, color: false }).join('\n')),
    ...(others.length === 0 ? [] : [`and ${countDiagnostics(others, 'more ')}`]),
  ].join('\n\n');
}

/** The renderer has replaced the line feeds of what it quotes. */
function linesOf(
  diagnostic: Diagnostic,
  { texts, color }: { readonly texts: SourceTexts; readonly color: boolean },
): string[] {
  const text = diagnostic.range === undefined ? undefined : texts.get(diagnostic.range.file);
  return renderDiagnostic(diagnostic, { color, ...(text !== undefined && { text }) }).split('\n');
}

function omit(diagnostics: readonly Diagnostic[], shown: readonly Diagnostic[]): readonly Diagnostic[] {
  const printed = new Set(shown);
  return diagnostics.filter((diagnostic) => !printed.has(diagnostic));
}

function renderAnnotation(
  { severity, code, message, hint, range }: Diagnostic,
  context: Pick<CommandContext, 'env' | 'cwd'>,
): string {
  const text = hint === undefined ? message : `${message}; ${hint}`;
  return workflowCommand(severity, printableLine(text), {
    ...(range && {
      file: pathInRepository(range.file, context),
      line: range.line,
      endLine: range.endLine,
      col: range.column,
      endColumn: range.endColumn,
    }),
    title: code,
  });
}

/** Keeps file order. If not all can be shown, errors have priority over warnings. */
function chooseShown(diagnostics: readonly Diagnostic[], most: number): readonly Diagnostic[] {
  if (diagnostics.length <= most) return diagnostics;
  const errors = diagnostics.filter(({ severity }) => severity === 'error').slice(0, most);
  const warnings = diagnostics.filter(({ severity }) => severity === 'warning').slice(0, most - errors.length);
  const chosen = new Set([...errors, ...warnings]);
  return diagnostics.filter((diagnostic) => chosen.has(diagnostic));
}

function count(diagnostics: readonly Diagnostic[]): { readonly errors: number; readonly warnings: number } {
  const errors = diagnostics.filter(({ severity }) => severity === 'error').length;
  return { errors, warnings: diagnostics.length - errors };
}

/** For example `3 errors and 1 warning`; `more` is inserted between number and noun. */
export function countDiagnostics(diagnostics: readonly Diagnostic[], more: '' | 'more ' = ''): string {
  const { errors, warnings } = count(diagnostics);
  const named = (number: number, noun: string) =>
    `${number.toLocaleString('en-US')} ${more}${noun}${number === 1 ? '' : 's'}`;
  const parts = [
    ...(errors > 0 || warnings === 0 ? [named(errors, 'error')] : []),
    ...(warnings > 0 ? [named(warnings, 'warning')] : []),
  ];
  return parts.join(' and ');
}
