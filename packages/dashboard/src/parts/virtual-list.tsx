import {
  elementScroll,
  observeElementOffset,
  observeElementRect,
  Virtualizer,
  type VirtualizerOptions,
} from '@tanstack/virtual-core';
import type { ComponentChildren, HTMLAttributes, RefObject } from 'preact';
import { useEffect, useLayoutEffect, useReducer, useRef, useState } from 'preact/hooks';

/** A list of which only the visible rows are in the page. */
export interface VirtualListProps {
  readonly count: number;
  /** In pixels; all rows have the same. */
  readonly rowHeight: number;
  readonly renderRow: (index: number) => ComponentChildren;
  /** Scrolled to the middle when it changes. */
  readonly shown?: number | undefined;
  /** Whether the list stays at its end while rows are added. */
  readonly isFollowing?: boolean;
  /** Whether rows can be higher, as wrapped lines. */
  readonly isMeasured?: boolean;
  readonly onScroll?: (isAtEnd: boolean) => void;
  readonly attributes?: HTMLAttributes<HTMLDivElement>;
}

/** Renders the visible rows of a long list. */
export function VirtualList(props: VirtualListProps) {
  const element = useRef<HTMLDivElement>(null);
  const list = useVirtualizer(props, element);
  useEffect(() => {
    if (props.shown !== undefined && props.shown >= 0) list.scrollToIndex(props.shown, { align: 'center' });
  }, [props.shown]);
  useEffect(() => {
    if (props.isFollowing && props.count > 0) list.scrollToIndex(props.count - 1, { align: 'end' });
  }, [props.isFollowing, props.count]);
  const report = () => {
    const { scrollTop, clientHeight, scrollHeight } = element.current!;
    props.onScroll?.(scrollTop + clientHeight >= scrollHeight - props.rowHeight);
  };
  return (
    <div {...props.attributes} ref={element} class={`virtual ${props.attributes?.class ?? ''}`} onScroll={report}>
      <div class="virtual-all" role="presentation" style={{ height: `${list.getTotalSize()}px` }}>
        {list.getVirtualItems().map(({ index, start }) => (
          <div
            key={index}
            class="virtual-row"
            role="presentation"
            data-index={index}
            {...(props.isMeasured && { ref: (row: HTMLDivElement | null) => list.measureElement(row) })}
            style={{
              transform: `translateY(${start}px)`,
              height: props.isMeasured ? undefined : `${props.rowHeight}px`,
            }}
          >
            {props.renderRow(index)}
          </div>
        ))}
      </div>
    </div>
  );
}

type List = Virtualizer<HTMLDivElement, HTMLDivElement>;

function useVirtualizer({ count, rowHeight }: VirtualListProps, element: RefObject<HTMLDivElement | null>): List {
  const [, render] = useReducer((renders: number) => renders + 1, 0);
  const options: VirtualizerOptions<HTMLDivElement, HTMLDivElement> = {
    count,
    getScrollElement: () => element.current,
    estimateSize: () => rowHeight,
    overscan: 8,
    scrollToFn: elementScroll,
    observeElementRect,
    observeElementOffset,
    onChange: () => render(undefined),
  };
  const [list] = useState(() => new Virtualizer(options));
  list.setOptions(options);
  useLayoutEffect(() => list._didMount(), []);
  useLayoutEffect(() => list._willUpdate());
  return list;
}
