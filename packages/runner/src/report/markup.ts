import { own } from '@sluice/core';
import { printableLine } from './printable-line.ts';

/** HTML that may stand in a page as it is: only `markup` makes it, so nothing gets in unescaped. */
export interface Markup {
  readonly html: string;
}

type Piece = Markup | string | number | readonly Markup[];

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** A template whose values are escaped, for text and quoted attributes alike, unless they are markup themselves. */
export function markup(texts: TemplateStringsArray, ...pieces: readonly Piece[]): Markup {
  return { html: texts.map((text, index) => (index === 0 ? text : `${toHtml(pieces[index - 1]!)}${text}`)).join('') };
}

/** No markup, for a piece that is left out. */
export const NOTHING: Markup = { html: '' };

function toHtml(piece: Piece): string {
  if (typeof piece === 'number') return String(piece);
  if (typeof piece === 'string')
    return printableLine(piece).replace(/[&<>"']/g, (character) => own(ENTITIES, character)!);
  if ('html' in piece) return piece.html;
  return piece.map(({ html }) => html).join('');
}
