import type { Check } from './check-context.ts';
import { findLabelFaults } from './find-label-faults.ts';

/** The labels are valid for containers and do not replace the labels by which Sluice finds a run. */
export const checkLabels: Check = ({ pipeline: { labels }, report }) => {
  for (const fault of findLabelFaults(labels)) report(fault);
};
