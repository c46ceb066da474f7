import { useEffect, useMemo, useState } from 'preact/hooks';
import type { Drawing } from './index-layout.ts';
import { type PlanSteps, planShape, shapeDigest } from './plan-shape.ts';
import { requestLayout } from './request-layout.ts';

/** A graph that can be drawn. */
export interface DrawnGraph {
  readonly drawing: Drawing;
  readonly expanded: ReadonlyMap<number, number>;
  readonly ends: Int32Array;
}

/** The layout of a plan; undefined until it is known. */
export function useLayout(steps: PlanSteps, expanded: ReadonlyMap<number, number>): DrawnGraph | undefined {
  const [drawn, setDrawn] = useState<DrawnGraph>();
  // The details of a running run are fetched again and again; its graph stays.
  const shape = useMemo(() => planShape(steps, expanded), [steps, expanded]);
  const digest = useMemo(() => shapeDigest(shape), [shape]);
  useEffect(() => {
    let isCurrent = true;
    void requestLayout(digest, shape).then((drawing) => {
      if (isCurrent) setDrawn({ drawing, expanded, ends: shape.edges });
    });
    return () => {
      isCurrent = false;
    };
  }, [digest]);
  return drawn;
}
