import { type DestinationStream, type Logger, pino } from 'pino';

/**
 * The log of a served service: JSON lines. What could be a secret is left out by name, should it ever get into a line;
 * requests are logged without their headers and bodies in the first place.
 */
export function createServiceLog(options: { level?: string; to?: DestinationStream } = {}): Logger {
  const secrets = ['password', 'token', 'authorization', 'svc_token', 'cookie', 'passwordHash'];
  return pino(
    {
      level: options.level ?? 'info',
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      // A login may come in the query.
      serializers: { url: (url: unknown) => (typeof url === 'string' ? url.replace(/\?.*$/s, '?(left out)') : url) },
      redact: { paths: secrets.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]), censor: '(left out)' },
    },
    options.to ?? pino.destination({ dest: 2, sync: false }),
  );
}
