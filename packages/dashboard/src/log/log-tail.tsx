import { parseAnsi } from './parse-ansi.ts';
import { markHidden, visibleLine } from './visible-line.ts';

interface LogTailProps {
  readonly lines: readonly string[];
  readonly title: string;
  /** The whole log. */
  readonly href: string;
}

const MAX_LINES = 10;
const MAX_LENGTH = 500;

/** The last lines of a log, with a link to all of it. */
export function LogTail({ lines, title, href }: LogTailProps) {
  return (
    <div class="log-tail">
      <p>
        <a href={href}>{title}</a>
        {lines.length === 0 && <span class="soft">: no output</span>}
      </p>
      {lines.length > 0 && (
        <pre>
          {lines.slice(-MAX_LINES).map((line, index) => (
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
