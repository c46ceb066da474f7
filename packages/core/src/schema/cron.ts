import { Cron } from 'croner';

/**
 * A cron expression of five fields, read by the library that plans the times: what is refused here and what could not be
 * planned later are the same. It starts no timer. Throws where the expression cannot be read; the time zone is looked up
 * when a time is asked for.
 */
export function createCron(expression: string, timezone: string): Cron {
  return new Cron(expression.trim(), { timezone, mode: '5-part', fixedTimeRule: 'no-wildcard', paused: true });
}

/** Why the library cannot read an expression. */
export function cronReason(error: unknown): string {
  return (error as Error).message.replace(/^CronPattern: /, '').replace(/\.$/, '');
}
