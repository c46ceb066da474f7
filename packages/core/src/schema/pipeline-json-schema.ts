import type { Json } from '../model/json.ts';

/** JSON Schema 2020-12 of the pipeline file, for editors. */
export function pipelineJsonSchema(): { readonly [key: string]: Json } {
  return {};
}
