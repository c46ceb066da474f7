import { own } from '@sluice/core';

const DATA: Readonly<Record<string, string>> = { '%': '%25', '\r': '%0D', '\n': '%0A' };
const PROPERTY: Readonly<Record<string, string>> = { ...DATA, ':': '%3A', ',': '%2C' };

/** A workflow command of GitHub Actions, as a line. Undefined properties are omitted; newlines in `value` remain. */
export function workflowCommand(
  name: 'error' | 'warning' | 'group' | 'endgroup',
  value = '',
  properties: Readonly<Record<string, string | number | undefined>> = {},
): string {
  const list = Object.entries(properties)
    .filter(([, property]) => property !== undefined)
    .map(([key, property]) => `${key}=${encode(String(property), PROPERTY)}`)
    .join(',');
  return `::${name}${list === '' ? '' : ` ${list}`}::${encode(value, DATA)}\n`;
}

function encode(text: string, codes: Readonly<Record<string, string>>): string {
  return text.replace(/[%\r\n:,]/g, (character) => own(codes, character) ?? character);
}
