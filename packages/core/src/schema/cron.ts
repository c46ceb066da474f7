import { Cron } from 'croner';

/**
 * Parses a cron expression of five fields with the library that computes the planned times, so that both agree. Starts
 * no timer. Throws if the expression is invalid; the time zone is checked only when a time is computed.
 */
export function createCron(expression: string, timezone: string): Cron {
  return new Cron(expression.trim(), { timezone, mode: '5-part', fixedTimeRule: 'no-wildcard', paused: true });
}

/** Why the library rejects an expression, from the error that `createCron` throws. */
export function cronReason(error: unknown): string {
  return (error as Error).message.replace(/^CronPattern: /, '').replace(/\.$/, '');
}
