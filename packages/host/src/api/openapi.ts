import { errorBodySchema } from '@sluice/client';
import { cellStatus, counts, runEntry, runPhase } from '@sluice/run';
import { z } from 'zod';
import { actionReply } from '../schemas/actions.ts';
import { STREAM_EVENTS } from '../schemas/events.ts';
import { failureWithoutPath } from '../schemas/run-replies.ts';
import { runHead } from '../schemas/states.ts';
import type { ApiRoute } from './api-route.ts';
import { shareComponents } from './share-components.ts';

/** Path prefix of the run API. */
export const API_PREFIX = '/api/sluice/v1';

/** The schemas that several operations or events use, by their names in the document. */
const COMPONENTS: Readonly<Record<string, z.ZodType>> = {
  Action: actionReply,
  Run: runEntry,
  RunHead: runHead,
  RunStatus: runPhase,
  CellStatus: cellStatus,
  Counts: counts,
  Failure: failureWithoutPath,
};

/** The OpenAPI 3.1 document, derived from the schemas of the routes below `prefix`. */
export function renderOpenApi(routes: readonly ApiRoute[], prefix: string): Record<string, unknown> {
  const paths = new Map<string, Record<string, unknown>>();
  for (const route of routes) {
    const path = prefix + route.path;
    paths.set(path, { ...paths.get(path), [route.method.toLowerCase()]: describeOperation(route, path) });
  }
  const components = Object.fromEntries(
    Object.entries(COMPONENTS).map(([name, type]) => [name, schema(type, 'output')]),
  );
  const share = (value: unknown) => shareComponents(value, components);
  const shareParts = (type: object) =>
    Object.fromEntries(Object.entries(type).map(([key, part]) => [key, share(part)]));
  return {
    openapi: '3.1.0',
    info: { title: 'Runs of a Sluice home', version: 'v1' },
    paths: share(Object.fromEntries(paths)),
    components: {
      schemas: {
        Error: schema(errorBodySchema, 'output'),
        Json: JSON_VALUE,
        ...Object.fromEntries(
          Object.entries(STREAM_EVENTS).map(([name, event]) => [`event.${name}`, share(schema(event, 'output'))]),
        ),
        // Their own parts are shared, but not they themselves.
        ...Object.fromEntries(Object.entries(components).map(([name, type]) => [name, shareParts(type)])),
      },
      securitySchemes: { token: { type: 'http', scheme: 'bearer' } },
    },
    security: [{ token: [] }],
  };
}

function describeOperation(route: ApiRoute, path: string): Record<string, unknown> {
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    ...{ name, in: 'path', required: true, schema: { type: 'string' } },
  }));
  const query = schema(route.query, 'input') as { properties?: Record<string, object>; required?: string[] };
  const inQuery = Object.entries(query.properties ?? {}).map(([name, type]) => ({
    ...{ name, in: 'query', required: query.required?.includes(name) ?? false, schema: type },
  }));
  const inHeader =
    route.method === 'POST' ? [{ name: 'Idempotency-Key', in: 'header', schema: { type: 'string' } }] : [];
  return {
    operationId: route.operationId,
    summary: route.summary,
    parameters: [...inPath, ...inQuery, ...inHeader],
    ...(route.body && { requestBody: { content: json(schema(route.body, 'input')) } }),
    responses: {
      '200': { description: 'Success', content: contentOf(route) },
      default: { description: 'Rejected or failed', content: json({ $ref: '#/components/schemas/Error' }) },
    },
  };
}

const BYTES = { 'application/octet-stream': { schema: { type: 'string', format: 'binary' } } };

function contentOf({ reply }: ApiRoute): Record<string, unknown> {
  if (reply === 'events') return { 'text/event-stream': { schema: { type: 'string' } } };
  if (reply === 'bytes') return BYTES;
  return json(schema(reply, 'output'));
}

function json(content: unknown): Record<string, unknown> {
  return { 'application/json': { schema: content } };
}

/** The component for the only type that contains itself. */
const JSON_REF = '#/components/schemas/Json';
const JSON_VALUE = {
  description: 'Any JSON value.',
  anyOf: [
    ...['string', 'number', 'boolean', 'null'].map((type) => ({ type })),
    { type: 'array', items: { $ref: JSON_REF } },
    { type: 'object', additionalProperties: { $ref: JSON_REF } },
  ],
};

/** References of a schema to its own definitions have no meaning in the document. */
function schema(type: z.ZodType, io: 'input' | 'output'): Record<string, unknown> {
  const { $schema: _, $defs = {}, ...rest } = z.toJSONSchema(type, { io, unrepresentable: 'any' });
  if (Object.keys($defs).length > 1) throw new Error('only JSON values may contain themselves in the run API');
  return JSON.parse(JSON.stringify(rest).replaceAll(/#\/\$defs\/\w+/g, JSON_REF));
}
