import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks';
import type { MetricFamily } from './metric-family.ts';

const RESOLUTION_MS = 20;

/**
 * Measures this process from now on; returns a function that reads its memory, and how late its event loop was since the
 * previous call.
 */
export function measureProcess(): () => readonly MetricFamily[] {
  const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delays.enable();
  return () => {
    const lags = listLags(delays);
    delays.reset();
    return [
      {
        name: 'process_resident_memory_bytes',
        type: 'gauge',
        help: 'Memory of the process',
        samples: [{ value: process.memoryUsage.rss() }],
      },
      {
        name: 'sluice_event_loop_lag_seconds',
        type: 'gauge',
        help: 'How late the event loop was since the previous scrape',
        samples: lags,
      },
    ];
  };
}

function listLags(delays: IntervalHistogram): MetricFamily['samples'] {
  const stats = delays.count === 0 ? {} : { mean: delays.mean, p99: delays.percentile(99), max: delays.max };
  return (['mean', 'p99', 'max'] as const).map((stat) => {
    // What is recorded is the interval between two timers, not how late the second was.
    const nanoseconds = (stats[stat] ?? 0) - RESOLUTION_MS * 1e6;
    return { labels: { stat }, value: Math.max(0, nanoseconds / 1e9) };
  });
}
