import { errorBodySchema, own } from '@sluice/client';
import { z } from 'zod';
import type { ApiRoute } from './api-route.ts';

/** Path prefix of endpoints 1 to 12. */
export const API_PREFIX = '/api/v1rc1';
/** Path of endpoint 13. */
export const LOGIN_PATH = '/user/api/login';

/** The OpenAPI 3.1 document, derived from the schemas of the routes, with the login added. */
export function renderOpenApi(routes: readonly ApiRoute[]): Record<string, unknown> {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const route of routes) {
    const path = API_PREFIX + route.path;
    paths[path] = { ...own(paths, path), [route.method.toLowerCase()]: operation(route) };
  }
  paths[LOGIN_PATH] = { post: LOGIN_OPERATION };
  return {
    openapi: '3.1.0',
    info: { title: 'Container and persistent volume service', version: 'v1rc1' },
    paths,
    components: {
      schemas: { Error: schema(errorBodySchema, 'output') },
      securitySchemes: { token: { type: 'http', scheme: 'bearer' } },
    },
    security: [{ token: [] }],
  };
}

const ERROR = { description: 'Rejected or failed', content: json({ $ref: '#/components/schemas/Error' }) };

const LOGIN_OPERATION = {
  operationId: 'login',
  summary: 'Obtain a token',
  security: [],
  requestBody: {
    content: {
      'application/x-www-form-urlencoded': {
        schema: {
          type: 'object',
          properties: Object.fromEntries(
            ['token_type', 'third_party', 'email', 'password'].map((name) => [name, { type: 'string' }]),
          ),
          required: ['email', 'password'],
        },
      },
    },
  },
  responses: {
    '200': {
      description: 'The user; the token is in a header',
      headers: { svc_token: { description: 'Bearer token', schema: { type: 'string' } } },
      content: json({ type: 'object' }),
    },
    default: ERROR,
  },
};

function operation(route: ApiRoute): Record<string, unknown> {
  const inPath = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    ...{ name, in: 'path', required: true },
    schema: { type: 'string', minLength: 1, maxLength: 63 },
  }));
  const inQuery = Object.entries(route.query).map(([name, type]) => ({ name, in: 'query', schema: { type } }));
  const success = successOf(route);
  return {
    operationId: route.operationId,
    summary: route.summary,
    parameters: [...inPath, ...inQuery],
    ...(route.body === undefined ? {} : { requestBody: { content: json(schema(route.body, 'input')) } }),
    responses: { ...success, default: ERROR },
  };
}

function successOf({ reply }: ApiRoute): Record<string, unknown> {
  if (reply === 'nothing') return { '204': { description: 'Done' } };
  if (reply === 'text') {
    return {
      '200': { description: 'The bytes of the log', content: { 'text/plain': { schema: { type: 'string' } } } },
    };
  }
  return { '200': { description: 'Success', content: json(schema(reply, 'output')) } };
}

function json(content: unknown): Record<string, unknown> {
  return { 'application/json': { schema: content } };
}

function schema(type: z.ZodType, io: 'input' | 'output'): Record<string, unknown> {
  const { $schema: _, ...rest } = z.toJSONSchema(type, { io });
  return rest;
}
