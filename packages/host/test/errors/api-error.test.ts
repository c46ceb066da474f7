import { ServiceError } from '@sluice/client';
import { expect, test } from 'vitest';
import { ApiError, fromRunError, renderError } from '../../src/errors/api-error.ts';

test.each([
  ['RUN_NOT_FOUND', 404],
  ['STEP_NOT_FOUND', 404],
  ['CELL_NOT_FOUND', 404],
  ['SERVICE_UNREACHABLE', 503],
  ['RUN_FINISHED', 409],
] as const)('a run error %s has the status %i', (code, status) => {
  expect(fromRunError({ code, message: 'm' })).toMatchObject({ status, reason: code, message: 'm' });
});

test('an error of the API has its reason and its details in the form of the protocol', () => {
  const error = new ApiError(429, 'QUOTA_EXCEEDED', 'too much');
  error.details = { limit: 'runs', maximum: 2 };
  expect(renderError(error)).toEqual({
    ...{ code: 429, status: 'RESOURCE_EXHAUSTED', message: 'too much' },
    details: [{ reason: 'QUOTA_EXCEEDED', limit: 'runs', maximum: 2 }],
  });
});

test('an error of the service keeps its status, and is 503 without a reply', () => {
  const rejected = new ServiceError('NOT_FOUND', 'no such volume', { status: 404, reason: 'VOLUME_NOT_FOUND' });
  expect(renderError(rejected)).toEqual({
    ...{ code: 404, status: 'NOT_FOUND', message: 'no such volume' },
    details: [{ reason: 'VOLUME_NOT_FOUND' }],
  });
  expect(renderError(new ServiceError('UNREACHABLE', 'no connection'))).toEqual({
    ...{ code: 503, status: 'UNREACHABLE', message: 'no connection' },
  });
});

test.each(['ENOSPC', 'EDQUOT'])('a full disk (%s) is no internal error', (code) => {
  const error = Object.assign(new Error(`${code}: write`), { code, syscall: 'write', errno: -28 });
  expect(renderError(error)).toMatchObject({ code: 507, details: [{ reason: 'STORE_FULL' }] });
});

test('a request that the HTTP library rejects keeps its status, and an internal error reveals nothing', () => {
  expect(renderError(Object.assign(new Error('body too large'), { statusCode: 413 }))).toEqual({
    ...{ code: 413, status: 'INVALID_ARGUMENT', message: 'body too large' },
  });
  for (const error of [new Error('/root/secret'), Object.assign(new Error('/root/secret'), { statusCode: 500 })]) {
    const reply = renderError(error);
    expect(reply).toEqual({
      ...{ code: 500, status: 'UNAVAILABLE', message: 'could not serve the request because of an internal error' },
    });
  }
});
