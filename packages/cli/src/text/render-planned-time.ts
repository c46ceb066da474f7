/** The time in the schedule's time zone, with its UTC offset: `2026-11-22 03:00 +01:00`. */
export function renderPlannedTime(planned: number, timeZone: string): string {
  const format = new Intl.DateTimeFormat('en-GB', {
    timeZone,
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
    timeZoneName: 'longOffset',
  });
  const parts = Object.fromEntries(format.formatToParts(planned).map(({ type, value }) => [type, value]));
  const { year, month, day, hour, minute, timeZoneName = '' } = parts;
  return `${year}-${month}-${day} ${hour}:${minute} ${timeZoneName.replace('GMT', '') || '+00:00'}`;
}
