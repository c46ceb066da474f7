/** The labels of a sample, in the order in which they are written. */
export type MetricLabels = Readonly<Record<string, string>>;

/** One number of a metric. */
export interface MetricSample {
  readonly labels?: MetricLabels;
  readonly value: number;
  /** Appended to the metric's name: the parts of a histogram. */
  readonly suffix?: string;
}

/** A metric with all its samples. */
export interface MetricFamily {
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  /** A sentence without a full stop. */
  readonly help: string;
  readonly samples: readonly MetricSample[];
}

/** The content type of `renderMetrics`. */
export const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/** Renders metrics in Prometheus' text format. */
export function renderMetrics(families: readonly MetricFamily[]): string {
  return families.map(renderFamily).join('');
}

function renderFamily({ name, type, help, samples }: MetricFamily): string {
  const lines = samples.map(
    ({ labels = {}, value, suffix = '' }) => `${name}${suffix}${renderLabels(labels)} ${renderValue(value)}`,
  );
  return `${[`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...lines].join('\n')}\n`;
}

function renderLabels(labels: MetricLabels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escapeValue(value)}"`);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

function escapeValue(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}

function renderValue(value: number): string {
  return Number.isFinite(value) ? String(value) : String(value).replace('Infinity', 'Inf');
}
