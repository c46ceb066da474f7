import type { ServiceError } from '@sluice/client';
import { fail } from '@sluice/core';
import type { CommandError } from '../context/command-rejection.ts';
import { serviceExitCode } from './service-exit-code.ts';

/** How the caller can change what a service is called with. */
interface ServiceAdvice {
  /** What to do about rejected credentials. */
  readonly login?: string;
  /** How to name a file with trusted certificates. */
  readonly trust?: string;
}

/** Why the service at `url` cannot be used. */
export function rejectService(
  url: string,
  error: ServiceError,
  { login, trust = 'set caFile in the profile to the certificate of its authority' }: ServiceAdvice = {},
): { ok: false; error: CommandError } {
  const advice = error.code === 'UNAUTHENTICATED' ? login : adviseOnCertificate(error.message, trust);
  const message = `could not use ${url}: ${error.message}${advice === undefined ? '' : `; ${advice}`}`;
  return fail({ exitCode: serviceExitCode(error), message, cause: error });
}

/** Error codes of Node.js and OpenSSL for a certificate that no trusted authority has signed. */
const UNTRUSTED = ['SELF_SIGNED_CERT', 'UNABLE_TO_VERIFY_LEAF', 'UNABLE_TO_GET_ISSUER'] as const;

function adviseOnCertificate(message: string, trust: string): string | undefined {
  if (UNTRUSTED.some((code) => message.includes(code))) return `this machine does not trust its certificate: ${trust}`;
  if (message.includes('ALTNAME_INVALID'))
    return 'its certificate is for another name: use the name in the certificate';
  if (message.includes('CERT_HAS_EXPIRED')) return 'its certificate has expired: the operator must renew it';
  return undefined;
}
