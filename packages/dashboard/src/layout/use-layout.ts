import { useEffect, useMemo, useState } from 'preact/hooks';
import type { Drawing } from './index-layout.ts';
import { type PlanSteps, planShape, shapeDigest } from './plan-shape.ts';
import { requestLayout } from './request-layout.ts';

/** Steps that are drawn. Views with equal keys have the same steps. */
interface KeyedView<View> {
  readonly view: View;
  readonly key: string;
}

/** A graph that can be drawn, and the view of which it is the layout. */
export interface DrawnGraph<View> extends KeyedView<View> {
  readonly drawing: Drawing;
  readonly expanded: ReadonlyMap<number, number>;
  readonly ends: Int32Array;
}

/** The layout of steps; undefined until it is known. */
export function useLayout<View extends { readonly steps: PlanSteps }>(
  { view, key }: KeyedView<View>,
  expanded: ReadonlyMap<number, number>,
): DrawnGraph<View> | undefined {
  const [drawn, setDrawn] = useState<DrawnGraph<View>>();
  // The details of a running run are fetched again and again; its graph stays.
  const shape = useMemo(() => planShape(view.steps, expanded), [view, expanded]);
  const digest = useMemo(() => shapeDigest(shape), [shape]);
  // While the worker draws, the rest of the screen is rendered.
  const requested = useMemo(() => requestLayout(digest, shape), [digest]);
  useEffect(() => {
    let isCurrent = true;
    void requested.then((drawing) => {
      if (isCurrent) setDrawn({ drawing, expanded, ends: shape.edges, view, key });
    });
    return () => {
      isCurrent = false;
    };
  }, [digest, key]);
  return drawn;
}
