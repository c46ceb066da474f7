import { countOutcomes, listWeeks, type PlannedDays, type PlannedTime } from '../model/planned-days.ts';
import { OutcomeMark } from '../parts/outcome-mark.tsx';

interface CalendarProps {
  /** `YYYY-MM`. */
  readonly month: string;
  /** The selected date. */
  readonly day: string | undefined;
  readonly today: string;
  readonly days: PlannedDays;
  readonly onMonth: (count: number) => void;
  /** Undefined: the whole month. */
  readonly onDay: (date: string | undefined) => void;
}

const DAYS = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'];

/** A month of planned times: for each day the number of times by what became of them. */
export function ScheduleCalendar({ month, day, today, days, onMonth, onDay }: CalendarProps) {
  const title = new Date(`${month}-15T00:00:00Z`).toLocaleDateString('en', {
    ...{ month: 'long', year: 'numeric', timeZone: 'UTC' },
  });
  return (
    <section class="panel" aria-labelledby="month">
      <div class="panel-head">
        <h2 id="month">{title}</h2>
        <button type="button" onClick={() => onMonth(-1)}>
          Previous month
        </button>
        <button type="button" onClick={() => onMonth(1)}>
          Next month
        </button>
      </div>
      <table class="calendar">
        <thead>
          <tr>
            {DAYS.map((name) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {listWeeks(month).map((week) => (
            <tr key={week[0]}>
              {week.map((date) => (
                <td key={date} class={date === today ? 'today' : ''}>
                  {date.startsWith(month) && (
                    <CalendarDay
                      date={date}
                      times={days.get(date) ?? []}
                      isSelected={date === day}
                      onSelect={() => onDay(date === day ? undefined : date)}
                    />
                  )}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

interface DayProps {
  readonly date: string;
  readonly times: readonly PlannedTime[];
  readonly isSelected: boolean;
  readonly onSelect: () => void;
}

function CalendarDay({ date, times, isSelected, onSelect }: DayProps) {
  return (
    <button type="button" class="calendar-day" aria-pressed={isSelected} onClick={onSelect}>
      <span>
        <span class="hidden">{date.slice(0, 'YYYY-MM-'.length)}</span>
        {Number(date.slice(-2))}
      </span>
      {countOutcomes(times).map(({ outcome, count }) => (
        <OutcomeMark key={outcome} outcome={outcome} count={count} />
      ))}
    </button>
  );
}
