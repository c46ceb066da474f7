import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { loadValue, storeValue } from '../live/stored-value.ts';
import { useStore } from '../live/use-store.ts';
import { byteWords } from '../parts/byte-words.ts';
import { Note } from '../parts/note.tsx';
import { VirtualList } from '../parts/virtual-list.tsx';
import { ERROR_PATTERN } from './error-pattern.ts';
import { type LinePlace, type LogSource, LogWindow } from './log-window.ts';
import { parseAnsi } from './parse-ansi.ts';
import { markHidden, visibleLine } from './visible-line.ts';

const ROW_HEIGHT = 19;
/** The name of the stored choice. */
const WRAP = 'log.wrap';
/** From this size on, a slider jumps to any position. */
const LARGE = 4 * 1_048_576;
const MAX_LINE = 4_000;
const SLIDER_STEPS = 1_000;
const MIN_DIGITS = 5;

interface LogViewProps {
  readonly source: LogSource;
  /** It can grow. */
  readonly isOpen: boolean;
  /** Opens at the first error, or at the end. */
  readonly hasFailed: boolean;
  /** Opens at this line, from 1, or from the end if it is negative. */
  readonly line?: number | undefined;
  /** The link to a line. */
  readonly hrefOf: (line: string) => string;
}

/** The log of one attempt. */
export function LogView({ source, isOpen, hasFailed, line, hrefOf }: LogViewProps) {
  const [isFollowing, setFollowing] = useState(isOpen && line === undefined);
  const [shown, setShown] = useState<number>();
  const { isWrapped, wrap } = useWrapping();
  const log = useLog(source, async (opened) => {
    if (line !== undefined) setShown(await opened.findLine(line));
    if (line !== undefined || !hasFailed) return;
    const index = opened.total > LARGE ? -1 : await opened.find(ERROR_PATTERN, 0);
    if (index === -1) setFollowing(true);
    else setShown(index);
  });
  useFollowing(log, { isOpen, isFollowing });
  useEffect(() => {
    if (line === undefined || !log.isLoaded) return;
    setFollowing(false);
    void log.findLine(line).then(setShown);
  }, [line]);
  const find = (pattern: RegExp, from: number) => {
    setFollowing(false);
    void log.find(pattern, from).then((index) => setShown(index));
  };
  const jump = (offset: number) => {
    setFollowing(false);
    void log.jump(offset).then(() => setShown(0));
  };
  const count = log.lines.at(-1) === '' ? log.lines.length - 1 : log.lines.length;
  const digits = log.firstLine === undefined ? MIN_DIGITS : Math.max(MIN_DIGITS, `${log.firstLine + count}`.length);
  const onScroll = (isAtEnd: boolean) => {
    if (isAtEnd && !log.isAtEnd) void log.extend();
    if (!isAtEnd && isFollowing && !isOpen) setFollowing(false);
  };
  return (
    <div class="log">
      <LogToolbar
        {...{ log, source, isOpen, isFollowing, isWrapped, shown, hrefOf, find, jump, wrap }}
        follow={() => setFollowing(!isFollowing)}
      />
      {log.error !== undefined && <Note tone="bad">{log.error}</Note>}
      {shown === -1 && <Note>Nothing found.</Note>}
      {log.isLoaded && log.total === 0 && <p class="empty">The log is empty.</p>}
      <VirtualList
        key={String(isWrapped)}
        isMeasured={isWrapped}
        count={count}
        rowHeight={ROW_HEIGHT}
        shown={shown}
        isFollowing={isFollowing}
        onScroll={onScroll}
        attributes={{
          class: `lines ${isWrapped ? 'wrapped' : ''}`,
          tabIndex: 0,
          role: 'log',
          'aria-label': 'Log',
          'aria-live': 'off',
        }}
        renderRow={(index) => <LogLine {...{ log, index, digits, hrefOf }} isFound={index === shown} />}
      />
    </div>
  );
}

/** Whether long lines are wrapped, which the browser remembers. */
function useWrapping() {
  const [isWrapped, setWrapped] = useState(loadValue(WRAP) === 'true');
  const wrap = () => {
    storeValue(WRAP, String(!isWrapped));
    setWrapped(!isWrapped);
  };
  return { isWrapped, wrap };
}

interface ToolbarProps extends Pick<LogViewProps, 'source' | 'isOpen' | 'hrefOf'> {
  readonly log: LogWindow;
  readonly isFollowing: boolean;
  readonly isWrapped: boolean;
  readonly shown: number | undefined;
  readonly find: (pattern: RegExp, from: number) => void;
  readonly jump: (offset: number) => void;
  readonly wrap: () => void;
  readonly follow: () => void;
}

function LogToolbar(props: ToolbarProps) {
  const { log, source, isOpen, isFollowing, isWrapped, shown, hrefOf, find, jump, wrap, follow } = props;
  const place = shown === undefined || shown < 0 ? undefined : log.placeOf(shown);
  return (
    <div class="toolbar">
      <SearchBox shown={shown} onFind={find} />
      <button type="button" onClick={() => void log.jump(0).then(() => find(ERROR_PATTERN, 0))}>
        First error
      </button>
      <button type="button" onClick={() => jump(0)}>
        Start
      </button>
      <button type="button" aria-pressed={isFollowing} onClick={follow}>
        {isOpen ? 'Follow' : 'End'}
      </button>
      {log.total > LARGE && <PlaceSlider log={log} onJump={jump} />}
      <button type="button" aria-pressed={isWrapped} onClick={wrap}>
        Wrap
      </button>
      {place !== undefined && <a href={hrefOf(String(place.line))}>Link to line {place.label}</a>}
      <a class="button" href={log.url} download={`${source.step}-${source.cell}-${source.attempt}.log`}>
        Download
      </a>
      <span class="soft">{byteWords(log.total)}</span>
    </div>
  );
}

/** `onOpen`: when its beginning is loaded. */
function useLog(source: LogSource, onOpen: (log: LogWindow) => Promise<void>): LogWindow {
  const [log] = useState(() => new LogWindow(source));
  useStore(log);
  useEffect(() => {
    void log.jump(0).then(() => onOpen(log));
    return () => log.close();
  }, []);
  return log;
}

/** Reads what is added, while the log can grow or its end is wanted. */
function useFollowing(log: LogWindow, { isOpen, isFollowing }: { isOpen: boolean; isFollowing: boolean }): void {
  const wasOpen = useRef(isOpen);
  useEffect(() => {
    // The last lines can come with the end of the attempt.
    if (wasOpen.current && !isOpen) void log.extend();
    wasOpen.current = isOpen;
    if (!isFollowing) return;
    if (!isOpen) {
      void log.jumpToEnd();
      return;
    }
    const stopped = new AbortController();
    void log.follow(stopped.signal);
    return () => stopped.abort();
  }, [isOpen, isFollowing]);
}

function SearchBox({
  shown = -1,
  onFind,
}: {
  shown: number | undefined;
  onFind: (pattern: RegExp, from: number) => void;
}) {
  const [text, setText] = useState('');
  const search = (event: Event) => {
    event.preventDefault();
    if (text !== '') onFind(new RegExp(text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'), 'i'), shown + 1);
  };
  return (
    <form class="search" onSubmit={search}>
      <input
        type="search"
        aria-label="Search the log"
        placeholder="Search"
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <button type="submit">Next</button>
    </form>
  );
}

function PlaceSlider({ log, onJump }: { log: LogWindow; onJump: (offset: number) => void }) {
  return (
    <input
      type="range"
      aria-label="Position in the log"
      min={0}
      max={SLIDER_STEPS}
      value={Math.round((log.start / log.total) * SLIDER_STEPS)}
      onChange={(event) => onJump(Math.floor((Number(event.currentTarget.value) / SLIDER_STEPS) * log.total))}
    />
  );
}

interface LineProps {
  readonly log: LogWindow;
  readonly index: number;
  readonly isFound: boolean;
  /** Of the longest line number. */
  readonly digits: number;
  readonly hrefOf: LogViewProps['hrefOf'];
}

function LogLine({ log, index, isFound, digits, hrefOf }: LineProps) {
  const whole = log.lines[index] ?? '';
  const styleOfLine = log.styles[index] ?? '';
  const { text: line, style, overwritten } = useMemo(() => visibleLine(styleOfLine, whole), [styleOfLine, whole]);
  const spans = useMemo(() => parseAnsi(style + line.slice(0, MAX_LINE)), [style, line]);
  return (
    <div class={`line ${isFound ? 'found' : ''}`}>
      <LineNumber place={log.placeOf(index)} {...{ digits, hrefOf }} />
      {spans.map(({ text, className, color, background }, place) => (
        <span key={place} class={className} style={{ color, background }}>
          {markHidden(text)}
        </span>
      ))}
      {overwritten > 0 && (
        <span class="soft"> (written over {overwritten === 1 ? 'once' : `${overwritten} times`})</span>
      )}
      {line.length > MAX_LINE && <span class="soft"> … {line.length - MAX_LINE} more characters</span>}
    </div>
  );
}

interface NumberProps extends Pick<LineProps, 'digits' | 'hrefOf'> {
  readonly place: LinePlace | undefined;
}

/** A link to the line, which the Tab key leaves out, since there are thousands. */
function LineNumber({ place, digits, hrefOf }: NumberProps) {
  const style = { width: `${digits}ch` };
  if (place === undefined) return <span class="line-number" style={style} />;
  const { line, label } = place;
  const title = label.startsWith('+')
    ? `${label.slice(1)} after the cut; its number in the whole log is unknown`
    : undefined;
  return (
    <a class="line-number" tabIndex={-1} href={hrefOf(String(line))} style={style} title={title}>
      {label}
    </a>
  );
}
