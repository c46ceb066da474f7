import type { EVENT_VALUES } from './event-values.ts';
import type { JsonValue } from './json-values.ts';
import { renderValue } from './render-value.ts';

type EventType = keyof typeof EVENT_VALUES;

/** An event in the form of its schema. */
export type EventValue = { readonly [T in EventType]: { readonly type: T } & JsonValue<T> }[EventType];

/** An event as one line of JSON. */
export function renderEventValue(event: EventValue): string {
  return renderValue(event.type, event as JsonValue<EventType>);
}
