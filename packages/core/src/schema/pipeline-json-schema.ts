import { z } from 'zod';
import type { Json } from '../model/json.ts';
import { pipelineSchema } from './pipeline-schema.ts';

/**
 * JSON Schema 2020-12 of the pipeline file, for editors. Keys that begin with `x-` are allowed, as in the file.
 *
 * @example
 * ```ts
 * import { writeFileSync } from 'node:fs';
 * import { pipelineJsonSchema } from 'sluice';
 *
 * writeFileSync('pipeline.schema.json', JSON.stringify(pipelineJsonSchema()));
 * ```
 */
export function pipelineJsonSchema(): { readonly [key: string]: Json } {
  const schema = z.toJSONSchema(pipelineSchema, { io: 'input', unrepresentable: 'any' }) as { [key: string]: Json };
  const properties = schema.properties as Readonly<Record<string, Json>>;
  return {
    ...schema,
    $id: 'urn:sluice:schema:pipeline',
    title: 'Sluice pipeline, version 1',
    patternProperties: { '^x-': {} },
    anyOf: [{ required: ['steps'] }, { required: ['include'] }],
    properties,
  };
}
