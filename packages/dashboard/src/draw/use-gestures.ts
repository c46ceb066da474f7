import { useRef } from 'preact/hooks';
import { type View, zoomAt } from './view.ts';

/** What a pointer does; places are in pixels of the element. */
export interface GestureOptions {
  readonly view: View;
  readonly onView: (view: View) => void;
  readonly onClick: (x: number, y: number) => void;
  readonly onDoubleClick: (x: number, y: number) => void;
}

/** A pointer that moves less is a click. */
const CLICK_PIXELS = 4;
const WHEEL_SPEED = 0.0015;

/** Handlers for moving with one pointer, and zooming with the wheel or two fingers. */
export function useGestures({ view, onView, onClick, onDoubleClick }: GestureOptions) {
  const pointers = useRef(new Map<number, { x: number; y: number }>());
  const distance = useRef(0);
  // Several moves can come before the next rendering.
  const current = useRef(view);
  current.current = view;
  const apply = (next: View) => {
    current.current = next;
    onView(next);
  };
  return {
    onPointerDown(event: PointerEvent) {
      (event.currentTarget as Element).setPointerCapture(event.pointerId);
      pointers.current.set(event.pointerId, placeOf(event));
      distance.current = 0;
    },
    onPointerMove(event: PointerEvent) {
      const before = pointers.current.get(event.pointerId);
      if (before === undefined) return;
      const now = placeOf(event);
      const other = [...pointers.current].find(([id]) => id !== event.pointerId)?.[1];
      distance.current += Math.hypot(now.x - before.x, now.y - before.y);
      pointers.current.set(event.pointerId, now);
      if (distance.current < CLICK_PIXELS) return;
      const view = current.current;
      if (other === undefined) apply({ ...view, x: view.x + now.x - before.x, y: view.y + now.y - before.y });
      else {
        const spread = (at: { x: number; y: number }) => Math.max(1, Math.hypot(at.x - other.x, at.y - other.y));
        apply(zoomAt(view, spread(now) / spread(before), other));
      }
    },
    onPointerUp(event: PointerEvent) {
      const place = placeOf(event);
      if (pointers.current.delete(event.pointerId) && distance.current < CLICK_PIXELS) onClick(place.x, place.y);
    },
    onPointerCancel(event: PointerEvent) {
      pointers.current.delete(event.pointerId);
    },
    onDblClick(event: MouseEvent) {
      onDoubleClick(event.offsetX, event.offsetY);
    },
    onWheel(event: WheelEvent) {
      event.preventDefault();
      apply(zoomAt(current.current, Math.exp(-event.deltaY * WHEEL_SPEED), { x: event.offsetX, y: event.offsetY }));
    },
  };
}

function placeOf({ offsetX, offsetY }: PointerEvent): { x: number; y: number } {
  return { x: offsetX, y: offsetY };
}
