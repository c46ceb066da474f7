interface FactTableProps {
  readonly title: string;
  readonly values: Readonly<Record<string, unknown>>;
  /** Of the title: one below that of the heading before it. Default: 2. */
  readonly level?: 2 | 3;
}

/** Names and values. Not shown without values. */
export function FactTable({ title, values, level = 2 }: FactTableProps) {
  const Title = `h${level}` as const;
  const entries = Object.entries(values);
  if (entries.length === 0) return null;
  return (
    <div>
      <Title class="fact-title">{title}</Title>
      <dl>
        {entries.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{valueText(value)}</dd>
          </div>
        ))}
      </dl>
    </div>
  );
}

/** A value as text: a string as it is, everything else as JSON. */
function valueText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
