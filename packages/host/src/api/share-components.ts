/** A JSON Schema, or a part of one. */
type Schema = Readonly<Record<string, unknown>>;

/** Replaces each part of a document that equals one of the schemas by a reference to the component of its name. */
export function shareComponents(document: unknown, components: Readonly<Record<string, Schema>>): unknown {
  const names = new Map(
    Object.entries(components).map(([name, schema]) => [JSON.stringify(withoutNote(schema)), name]),
  );
  const replace = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(replace);
    return isSchema(value) ? replaceIn(value) : value;
  };
  const replaceIn = (value: Schema): Schema => {
    const name = names.get(JSON.stringify(withoutNote(value)));
    const { description } = value;
    if (name === undefined) return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, replace(part)]));
    return { $ref: `#/components/schemas/${name}`, ...(description !== undefined && { description }) };
  };
  return replace(document);
}

/** A component may have another description where it is used. */
function withoutNote({ description: _, ...schema }: Schema): Schema {
  return schema;
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null;
}
