import { STATUSES } from '../model/statuses.ts';

/** The colors of the style sheet, for a canvas. */
export interface Palette {
  readonly ink: string;
  readonly soft: string;
  readonly line: string;
  readonly page: string;
  readonly panel: string;
  readonly accent: string;
  readonly edge: string;
  /** By code of a state. */
  readonly states: readonly string[];
}

/** States that share their tone with another have a fainter color in bars. */
const FAINTER = new Map([
  ['waiting', 'wait'],
  ['ready', 'wait'],
  ['submitting', 'queue'],
  ['pending', 'queue'],
]);

/** Reads the colors of the present theme. */
export function readPalette(): Palette {
  const style = getComputedStyle(document.documentElement);
  const color = (name: string) => style.getPropertyValue(`--${name}`).trim();
  return {
    ink: color('ink'),
    soft: color('soft'),
    line: color('line'),
    page: color('page'),
    panel: color('panel'),
    accent: color('accent'),
    edge: color('edge'),
    states: STATUSES.map(({ tone, status }) => color(FAINTER.get(status) ?? tone)),
  };
}
