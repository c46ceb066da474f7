/** Lines as CSV (RFC 4180). Values that a spreadsheet would take for a formula are marked as text. */
export function renderCsv(lines: readonly (readonly (string | number | undefined)[])[]): string {
  return lines.map((line) => `${line.map((value) => quote(String(value ?? ''))).join(',')}\r\n`).join('');
}

function quote(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) && !Number.isFinite(Number(text)) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
