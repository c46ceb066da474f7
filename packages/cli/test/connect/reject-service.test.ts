import { ServiceError } from '@sluice/client';
import { expect, test } from 'vitest';
import { rejectService } from '../../src/connect/reject-service.ts';

test('rejectService says what to do about a certificate that is not trusted', () => {
  const error = new ServiceError('UNREACHABLE', 'no connection to the service (DEPTH_ZERO_SELF_SIGNED_CERT)');
  const { exitCode, message } = rejectService('https://one.example', error).error;
  expect(exitCode).toBe(3);
  expect(message).toContain('set caFile in the profile');
});
