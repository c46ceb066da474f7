import { ERROR_PATTERN } from './error-pattern.ts';
import { parseAnsi } from './parse-ansi.ts';
import { markHidden, visibleLine } from './visible-line.ts';
import { withoutStyles } from './without-styles.ts';

interface LogTailProps {
  readonly lines: readonly string[];
  readonly title: string;
  /** The whole log at a line, counted from its end as a negative number. */
  readonly hrefOf: (line: string) => string;
}

const MAX_LINES = 10;
const MAX_LENGTH = 500;

/** The last lines of a log, with a link to all of it at the first error among them, or at the last line. */
export function LogTail({ lines, title, hrefOf }: LogTailProps) {
  const shown = lines.slice(-MAX_LINES);
  const error = shown.findIndex((line) => ERROR_PATTERN.test(withoutStyles(line)));
  const href = hrefOf(shown.length === 0 ? '' : String(error === -1 ? -1 : error - shown.length));
  return (
    <div class="log-tail">
      <p>
        <a href={href}>{title}</a>
        {lines.length === 0 && <span class="soft">: no output</span>}
      </p>
      {lines.length > 0 && (
        <pre>
          {shown.map((line, index) => (
            <Line key={index} line={line} />
          ))}
        </pre>
      )}
    </div>
  );
}

function Line({ line }: { line: string }) {
  const { text, style } = visibleLine('', line);
  return (
    <>
      {parseAnsi(style + text.slice(0, MAX_LENGTH)).map((span, place) => (
        <span key={place} class={span.className} style={{ color: span.color, background: span.background }}>
          {markHidden(span.text)}
        </span>
      ))}
      {'\n'}
    </>
  );
}
