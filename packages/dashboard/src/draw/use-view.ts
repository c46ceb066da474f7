import { useEffect, useState } from 'preact/hooks';
import type { GraphLayout } from '../layout/layout-graph.ts';
import { fitView, revealBox, type Size, startView, type View } from './view.ts';

/** What a canvas shows of a drawing, and what changes it. */
interface ShownView {
  readonly view: View;
  /** Shows this part from now on, whatever the size of the canvas is. */
  readonly move: (view: View) => void;
  /** Shows the whole drawing, also when the size of the canvas changes. */
  readonly fit: () => void;
}

/** `fit` finds the view for another size; undefined after the user has moved it. */
interface ViewState {
  readonly view: View | undefined;
  readonly fit: ((drawing: Size, canvas: Size) => View) | undefined;
}

/** The view of a drawing: fitted again when the drawing or the canvas changes, until the user moves it. Keeps the selected step in view. */
export function useView(layout: GraphLayout, size: Size, selected: number | undefined): ShownView {
  const [state, setState] = useState<ViewState>({ view: undefined, fit: startView });
  const reveal = (view: View) => {
    if (selected === undefined) return view;
    const [left = 0, top = 0, right = 0, bottom = 0] = layout.boxes.subarray(selected * 4, selected * 4 + 4);
    return revealBox(view, { left, top, right, bottom }, size);
  };
  useEffect(() => {
    if (size.width === 0) return;
    setState(({ view, fit }) => ({ fit, view: reveal(fit === undefined ? view! : fit(layout, size)) }));
  }, [layout, size.width, size.height]);
  useEffect(() => {
    if (size.width !== 0) setState(({ view, fit }) => ({ fit, view: reveal(view ?? startView(layout, size)) }));
  }, [selected]);
  return {
    view: state.view ?? startView(layout, size),
    move: (view) => setState({ view, fit: undefined }),
    fit: () => setState({ view: fitView(layout, size), fit: fitView }),
  };
}
