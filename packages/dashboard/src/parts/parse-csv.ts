/** The rows of a table in CSV (RFC 4180), with quoted fields. Never throws: a quote that is not closed ends with the text. */
export function parseCsv(text: string, separator = ','): string[][] {
  const rows: string[][] = [];
  let [row, field, isQuoted]: [string[], string, boolean] = [[], '', false];
  const endField = () => {
    row.push(field);
    field = '';
  };
  for (let i = 0; i < text.length; i++) {
    const char = text[i]!;
    if (isQuoted) {
      if (char !== '"') field += char;
      else if (text[i + 1] === '"') field += text[++i];
      else isQuoted = false;
    } else if (char === '"' && field === '') isQuoted = true;
    else if (char === separator) endField();
    else if (char === '\n') {
      endField();
      rows.push(row);
      row = [];
    } else if (char !== '\r' || text[i + 1] !== '\n') field += char;
  }
  if (field !== '' || row.length > 0) {
    endField();
    rows.push(row);
  }
  return rows;
}
