import { z } from 'zod';
import { homeOrderBody, orderBody } from '../schemas/order.ts';
import { SHARED_ROUTES } from './add-run-api.ts';
import type { ApiRoute } from './api-route.ts';
import { renderOpenApi } from './openapi.ts';
import { SERVER_ORDER_ROUTES } from './order-routes.ts';

/** The OpenAPI document of all endpoints, with paths relative to the API of a home or of an account. */
export function describeRunApi(): Record<string, unknown> {
  return renderOpenApi([...SHARED_ROUTES, ...SERVER_ORDER_ROUTES].map(acceptBoth), '');
}

/** A home and a server take other orders at the same path. */
function acceptBoth(route: ApiRoute): ApiRoute {
  return route.operationId === 'orderRun' ? { ...route, body: z.union([homeOrderBody, orderBody]) } : route;
}
