import { type DestinationStream, type Logger, pino } from 'pino';

/**
 * Creates the log of a served service, as JSON lines on standard error by default. Fields whose name suggests a secret are
 * redacted as a precaution; headers and bodies of requests are never logged.
 */
export function createServiceLog(options: { level?: string; to?: DestinationStream } = {}): Logger {
  const secrets = ['password', 'token', 'authorization', 'svc_token', 'cookie', 'passwordHash'];
  return pino(
    {
      level: options.level ?? 'info',
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      // The query of a login may contain the password.
      serializers: { url: (url: unknown) => (typeof url === 'string' ? url.replace(/\?.*$/s, '?(left out)') : url) },
      redact: { paths: secrets.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]), censor: '(left out)' },
    },
    options.to ?? pino.destination({ dest: 2, sync: false }),
  );
}
