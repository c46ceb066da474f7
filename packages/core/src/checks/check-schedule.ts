import { createCron, cronReason } from '../schema/cron.ts';
import type { Check } from './check-context.ts';

const FIELDS = [
  { name: 'minute', least: 0, most: 59 },
  { name: 'hour', least: 0, most: 23 },
  { name: 'day of month', least: 1, most: 31 },
  { name: 'month', least: 1, most: 12, words: 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ') },
  { name: 'day of week', least: 0, most: 7, words: 'sun mon tue wed thu fri sat'.split(' ') },
] as const;
/** Cron expressions can be read by the library that computes the times, and the time zone exists. */
export const checkSchedule: Check = ({ pipeline, raw, report }) => {
  const { schedule } = pipeline;
  if (schedule === undefined) return;
  schedule.cron.forEach((expression, index) => {
    const fault = cronFault(expression);
    const path = typeof raw.schedule?.cron === 'string' ? ['schedule', 'cron'] : ['schedule', 'cron', index];
    if (fault !== undefined)
      report({ code: 'bad-cron', message: `the cron expression "${expression}" ${fault}`, path });
  });
  try {
    new Intl.DateTimeFormat('en', { timeZone: schedule.timezone });
  } catch {
    const message = `unknown time zone "${schedule.timezone}"`;
    report({
      code: 'bad-timezone',
      message,
      path: ['schedule', 'timezone'],
      hint: 'use a name such as Europe/Berlin or UTC',
    });
  }
};

/** The reason continues a sentence that begins with the expression. */
function cronFault(expression: string): string | undefined {
  try {
    createCron(expression, 'UTC');
    return undefined;
  } catch (error) {
    return findFieldFault(expression) ?? `is invalid: ${cronReason(error)}`;
  }
}

/** A message that names the field and its values; undefined for faults that only the library finds. */
function findFieldFault(expression: string): string | undefined {
  if (expression.trim().startsWith('@')) return undefined;
  const fields = expression.trim().split(/\s+/);
  if (fields.length !== FIELDS.length)
    return `has ${fields.length} fields instead of 5: minute, hour, day of month, month, day of week`;
  for (const [index, field] of FIELDS.entries()) {
    const text = fields[index] ?? '';
    const bad = text.split(',').find((part) => !isCronPart(part, field));
    if (bad !== undefined) return `has an invalid ${field.name} "${bad}"; expected ${field.least} to ${field.most}`;
  }
  return undefined;
}

function isCronPart(part: string, field: { least: number; most: number; words?: readonly string[] }): boolean {
  const match = /^(\*|\?|L|(?:\w+)(?:-\w+)?|\d+W)(?:#[1-5])?(?:\/(\d+))?$/i.exec(part);
  if (match === null || match[2] === '0') return false;
  const range = match[1] ?? '';
  if (range === '*' || range === '?' || /^\d*[LW]$/i.test(range)) return true;
  const ends = range.split('-').map((word) => {
    const named = field.words?.indexOf(word.toLowerCase()) ?? -1;
    return named >= 0 ? named + field.least : /^\d+$/.test(word) ? Number(word) : Number.NaN;
  });
  const [from, to] = [ends[0] ?? Number.NaN, ends[1] ?? ends[0] ?? Number.NaN];
  return from >= field.least && to <= field.most && (from <= to || field.words !== undefined);
}
