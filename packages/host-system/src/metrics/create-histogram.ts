import type { MetricFamily, MetricLabels, MetricSample } from './metric-family.ts';

/** A metric that counts values by their size. */
export interface Histogram {
  observe(value: number, labels?: MetricLabels): void;
  /** Sorted by labels. */
  family(): MetricFamily;
}

interface Counts {
  readonly labels: MetricLabels;
  /** By bucket; values above the last bound are only in `count`. */
  readonly buckets: number[];
  sum: number;
  count: number;
}

/** `bounds` are the upper bounds of the buckets, ascending. */
export function createHistogram(metric: Pick<MetricFamily, 'name' | 'help'>, bounds: readonly number[]): Histogram {
  const entries = new Map<string, Counts>();
  return {
    observe(value, labels = {}) {
      const key = JSON.stringify(labels);
      let entry = entries.get(key);
      if (entry === undefined) {
        entry = { labels, buckets: bounds.map(() => 0), sum: 0, count: 0 };
        entries.set(key, entry);
      }
      entry.sum += value;
      entry.count++;
      const bucket = bounds.findIndex((bound) => value <= bound);
      if (bucket !== -1) entry.buckets[bucket]!++;
    },
    family: () => ({
      ...metric,
      type: 'histogram',
      samples: [...entries].sort(([a], [b]) => (a < b ? -1 : 1)).flatMap(([, entry]) => listSamples(entry, bounds)),
    }),
  };
}

function listSamples({ labels, buckets, sum, count }: Counts, bounds: readonly number[]): MetricSample[] {
  let below = 0;
  const counted = bounds.map((bound, index) => {
    below += buckets[index]!;
    return { suffix: '_bucket', labels: { ...labels, le: String(bound) }, value: below };
  });
  return [
    ...counted,
    { suffix: '_bucket', labels: { ...labels, le: '+Inf' }, value: count },
    { suffix: '_sum', labels, value: sum },
    { suffix: '_count', labels, value: count },
  ];
}
