import { pipelineJsonSchema } from '@sluice/core';
import { serviceConfigSchema } from '@sluice/service';
import { z } from 'zod';
import { profileSchema } from '../../src/home/profile.ts';
import { SERVICE_SECTIONS } from '../../src/hosting/read-service-config.ts';
import { JSON_VALUES, type JsonType } from '../../src/json/json-values.ts';
import { schemaOf } from './printed-values.ts';

const VALUES = (Object.keys(JSON_VALUES) as JsonType[]).map(
  (type) => [type, () => withId(type, schemaOf(type))] as const,
);

/** The schemas of the package, by name. */
export const PUBLISHED_SCHEMAS: ReadonlyMap<string, () => object> = unique<() => object>([
  ...VALUES,
  ['pipeline', pipelineJsonSchema],
  ['profile', () => ({ ...withId('profile', profileSchema), title: 'Sluice profile' })],
  ['service', serviceSchema],
]);

/** A value of `--json` must not have the name of a file: its schema would be lost. */
function unique<V>(entries: readonly (readonly [string, V])[]): ReadonlyMap<string, V> {
  const found = new Map(entries);
  if (found.size < entries.length) throw new Error('two schemas have the same name');
  return found;
}

function withId(name: string, schema: z.ZodType): { readonly [key: string]: unknown } {
  const { $schema, ...rest } = z.toJSONSchema(schema, { io: 'input' });
  return { $schema, $id: `urn:sluice:schema:${name}`, ...rest };
}

/** The sections of the command are beside those of the service. */
function serviceSchema(): object {
  const { properties, ...rest } = withId('service', serviceConfigSchema);
  const sections = z.toJSONSchema(z.strictObject(SERVICE_SECTIONS), { io: 'input' }).properties;
  return {
    ...rest,
    title: 'Configuration of a Sluice service',
    properties: { ...(properties as object), ...sections },
  };
}
