// Usage: node scripts/run-api-types.mjs [--check]   (after `pnpm build`). Writes the types of the run API's client from its
// OpenAPI document. With --check it changes nothing, and fails where the file is out of date.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describeRunApi } from '../packages/host/dist/index.js';
import { ROOT } from './workspace.mjs';

/** The type of an object without keys. */
const NOTHING = 'Record<never, never>';
const FILE = 'packages/cli/src/run-api/operations.ts';
const { paths, components } = describeRunApi();
const operations = Object.entries(paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), ...operation })),
);
const text = format(`// Written by scripts/run-api-types.mjs from the OpenAPI document of the run API.
import type { Json } from '@sluice/core';

${Object.entries(components.schemas).flatMap(describeComponent).join('\n')}

/** What each operation of the run API takes and returns, by its name in the OpenAPI document. */
export interface RunApiOperations {
${operations.map(describeOperation).join('\n')}
}

/** The data of each event of the run API, by its name. */
export interface RunApiEvents {
${Object.entries(components.schemas).flatMap(describeEvent).join('\n')}
}

/** The method and path of each operation. */
export const OPERATIONS: { readonly [N in keyof RunApiOperations]: readonly [method: string, path: string] } = {
${operations.map(({ operationId, method, path }) => `  ${operationId}: ['${method}', '${path}'],`).join('\n')}
};
`);
if (!process.argv.includes('--check')) writeFileSync(join(ROOT, FILE), text);
else if (readFileSync(join(ROOT, FILE), 'utf8') !== text) {
  console.error(`${FILE} is out of date: run \`pnpm build && node scripts/run-api-types.mjs\``);
  process.exitCode = 1;
}

function describeOperation({ operationId, summary, parameters, requestBody, responses }) {
  const inPlace = (place) => parameters.filter((one) => one.in === place);
  const object = (list) => {
    const keys = list.map(
      ({ name, required, schema }) => `${comment(schema)}readonly ${name}${required ? '' : '?'}: ${typeOf(schema)};`,
    );
    return keys.length === 0 ? NOTHING : `{\n${keys.join('\n')}\n}`;
  };
  const [[media, { schema: reply }]] = Object.entries(responses['200'].content);
  const parts = {
    path: object(inPlace('path')),
    query: object(inPlace('query')),
    body: requestBody === undefined ? NOTHING : typeOf(requestBody.content['application/json'].schema),
    reply: media === 'application/json' ? typeOf(reply) : 'ReadableStream<Uint8Array>',
  };
  const lines = Object.entries(parts).map(([name, type]) => `readonly ${name}: ${type};`);
  return `/** ${summary}. */\nreadonly ${operationId}: {\n${lines.join('\n')}\n};`;
}

/** The types that several operations have; `Json` has its own, and errors are thrown. */
function describeComponent([name, schema]) {
  if (['Error', 'Json'].includes(name) || name.startsWith('event.')) return [];
  return [`/** The component \`${name}\` of the OpenAPI document. */\nexport type Api${name} = ${typeOf(schema)};\n`];
}

function describeEvent([name, schema]) {
  const [, event] = /^event\.(\w+)$/.exec(name) ?? [];
  return event === undefined ? [] : [`${comment(schema)}readonly ${event}: ${typeOf(schema)};`];
}

function comment({ description }) {
  return description === undefined
    ? ''
    : `/** ${description[0].toUpperCase()}${description.slice(1).replace(/\.$/, '')}. */\n`;
}

/** The type of the values that a JSON Schema describes. */
function typeOf(schema) {
  if (schema.$ref !== undefined) {
    const name = schema.$ref.replace('#/components/schemas/', '');
    return name === 'Json' ? name : `Api${name}`;
  }
  if ('const' in schema) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(' | ');
  const union = schema.anyOf ?? schema.oneOf;
  if (union !== undefined) return [...new Set(union.map((one) => typeOf(one)))].map((type) => `(${type})`).join(' | ');
  if (schema.type === 'object') return typeOfObject(schema);
  if (schema.type === 'array') return typeOfArray(schema);
  const plain = { string: 'string', number: 'number', integer: 'number', boolean: 'boolean', null: 'null' };
  return plain[schema.type] ?? 'unknown';
}

function typeOfObject({ properties, required = [], additionalProperties }) {
  if (properties === undefined) return `{ readonly [key: string]: ${typeOf(additionalProperties || {})} }`;
  const keys = Object.entries(properties).map(([name, type]) => {
    const key = /^\w+$/.test(name) ? name : JSON.stringify(name);
    return `${comment(type)}readonly ${key}${required.includes(name) ? '' : '?'}: ${typeOf(type)};`;
  });
  return `{\n${keys.join('\n')}\n}`;
}

function typeOfArray({ items, prefixItems }) {
  if (prefixItems !== undefined) return `readonly [${prefixItems.map((one) => typeOf(one)).join(', ')}]`;
  return `readonly (${typeOf(items ?? {})})[]`;
}

function format(source) {
  const biome = join(ROOT, 'node_modules/@biomejs/biome/bin/biome');
  const { stdout, stderr, status } = spawnSync(process.execPath, [biome, 'format', `--stdin-file-path=${FILE}`], {
    cwd: ROOT,
    input: source,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`could not format the types: ${stderr}`);
  return stdout;
}
