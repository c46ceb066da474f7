import { own } from '@sluice/core';
import { printableLine } from './printable-line.ts';

/** Safe HTML: only `markup` creates it, so that everything in it is escaped. */
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

/** A template tag that escapes all values, for text and quoted attributes, unless they are markup themselves. */
export function markup(texts: TemplateStringsArray, ...pieces: readonly Piece[]): Markup {
  return { html: texts.map((text, index) => (index === 0 ? text : `${toHtml(pieces[index - 1]!)}${text}`)).join('') };
}

/** Empty markup, for an omitted piece. */
export const NOTHING: Markup = { html: '' };

function toHtml(piece: Piece): string {
  if (typeof piece === 'number') return String(piece);
  if (typeof piece === 'string')
    return printableLine(piece).replace(/[&<>"']/g, (character) => own(ENTITIES, character)!);
  if ('html' in piece) return piece.html;
  return piece.map(({ html }) => html).join('');
}
