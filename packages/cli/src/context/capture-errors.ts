import { joinLines, type Terminal } from './terminal.ts';

/** What a terminal would have printed as errors. */
export interface CapturedErrors {
  /** Prints everything else, without color. */
  readonly terminal: Terminal;
  text(): string;
}

/** Collects errors instead of printing them, for a log or a reply. */
export function captureErrors(terminal: Terminal): CapturedErrors {
  const texts: string[] = [];
  const err = (...lines: readonly string[]) => void texts.push(joinLines(lines));
  return { terminal: { ...terminal, color: false, err }, text: () => texts.join('') };
}
