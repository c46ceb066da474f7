import { useRef, useState } from 'preact/hooks';
import { loadValue, storeValue } from '../live/stored-value.ts';

const MIN_WIDTH = 60;
const MAX_WIDTH = 1_200;
/** Of one press of an arrow key. */
const STEP = 16;

/** The width of a column that the user can change, in pixels. */
export interface ColumnWidth {
  /** Undefined: that of the style sheet. */
  readonly width: number | undefined;
  /** The width as a value of a style, which needs a unit. */
  readonly styleWidth: string | undefined;
  readonly setWidth: (width: number | undefined) => void;
}

/** The width of a column, which the browser remembers by this name. */
export function useColumnWidth(name: string): ColumnWidth {
  const key = `width.${name}`;
  const [width, setWidth] = useState(() => {
    const stored = Number(loadValue(key));
    return stored >= MIN_WIDTH && stored <= MAX_WIDTH ? stored : undefined;
  });
  return {
    width,
    styleWidth: width === undefined ? undefined : `${width}px`,
    setWidth(next) {
      const limited = next === undefined ? undefined : Math.round(Math.min(MAX_WIDTH, Math.max(MIN_WIDTH, next)));
      setWidth(limited);
      storeValue(key, limited?.toString());
    },
  };
}

/** At the right side of its parent, which has the width: dragged, or moved by arrow keys. A double click resets it. */
export function ColumnHandle({ column: { width, setWidth }, label }: { column: ColumnWidth; label: string }) {
  const handle = useRef<HTMLSpanElement>(null);
  const drag = useRef<{ readonly x: number; readonly width: number }>(undefined);
  const present = () => handle.current!.parentElement!.offsetWidth;
  return (
    // biome-ignore lint/a11y/useSemanticElements: a rule cannot be moved
    <span
      ref={handle}
      class="column-handle"
      role="separator"
      tabIndex={0}
      aria-orientation="vertical"
      aria-label={label}
      aria-valuemin={MIN_WIDTH}
      aria-valuemax={MAX_WIDTH}
      aria-valuenow={width ?? 200}
      aria-valuetext={width === undefined ? 'standard' : `${width} pixels`}
      title="Drag or use the arrow keys to change the width; a double click resets it"
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        drag.current = { x: event.clientX, width: present() };
        event.preventDefault();
      }}
      onPointerMove={(event) => drag.current && setWidth(drag.current.width + event.clientX - drag.current.x)}
      onPointerUp={() => {
        drag.current = undefined;
      }}
      onDblClick={() => setWidth(undefined)}
      onKeyDown={(event) => {
        const { key } = event;
        if (key === 'ArrowLeft' || key === 'ArrowRight') setWidth(present() + (key === 'ArrowLeft' ? -STEP : STEP));
        else if (key === 'Home') setWidth(undefined);
        else return;
        // The keys would also scroll.
        event.preventDefault();
      }}
    />
  );
}
