import type { MetricFamily, MetricLabels } from './metric-family.ts';

/** A metric that only grows. */
export interface Counter {
  add(labels: MetricLabels): void;
  /** Sorted by labels. */
  family(): MetricFamily;
}

/** Counts from 0. The name ends in `_total`. */
export function createCounter(metric: Pick<MetricFamily, 'name' | 'help'>): Counter {
  const counts = new Map<string, { readonly labels: MetricLabels; value: number }>();
  return {
    add(labels) {
      const key = JSON.stringify(labels);
      const known = counts.get(key);
      if (known === undefined) counts.set(key, { labels, value: 1 });
      else known.value++;
    },
    family: () => ({
      ...metric,
      type: 'counter',
      samples: [...counts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, sample]) => sample),
    }),
  };
}
