import { AnsiUp } from 'ansi_up';

/** A part of a line with one appearance. Text and classes are put into the page separately, so no text becomes markup. */
export interface TextSpan {
  readonly text: string;
  readonly className: string;
  /** Colors of 24 bits, as CSS. */
  readonly color?: string | undefined;
  readonly background?: string | undefined;
}

const ESCAPE = '\u001b';
const COLOR = /(?:^|;)color:(rgb\([\d,]+\))/;
const BACKGROUND = /(?:^|;)background-color:(rgb\([\d,]+\))/;
const STYLES = [
  { style: 'font-weight:bold', className: 'ansi-bold' },
  { style: 'opacity:0.7', className: 'ansi-faint' },
  { style: 'font-style:italic', className: 'ansi-italic' },
  { style: 'text-decoration:underline', className: 'ansi-underline' },
];

/** The spans of a line with ANSI escape sequences; `styleAfter` tells how the next line begins. */
export function parseAnsi(line: string): TextSpan[] {
  if (!line.includes(ESCAPE)) return [{ text: line, className: '' }];
  const converter = new AnsiUp();
  converter.use_classes = true;
  converter.url_allowlist = {};
  // The policy of the page blocks the attribute, and the browser reports that. In a text, the quotes are escaped.
  const html = converter.ansi_to_html(line).replaceAll(' style="', ' data-style="');
  // A document without a window runs and loads nothing.
  const { body } = new DOMParser().parseFromString(html, 'text/html');
  return [...body.childNodes].map((node) => {
    const text = node.textContent ?? '';
    if (!(node instanceof Element)) return { text, className: '' };
    const style = node.getAttribute('data-style') ?? '';
    const names = STYLES.filter((one) => style.includes(one.style)).map(({ className }) => className);
    return {
      text,
      className: [node.className, ...names].join(' ').trim(),
      color: COLOR.exec(style)?.[1],
      background: BACKGROUND.exec(style)?.[1],
    };
  });
}
