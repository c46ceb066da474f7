/** Names and values. Not shown without values. */
export function FactTable({ title, values }: { title: string; values: Readonly<Record<string, unknown>> }) {
  const entries = Object.entries(values);
  if (entries.length === 0) return null;
  return (
    <div>
      <h3>{title}</h3>
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
