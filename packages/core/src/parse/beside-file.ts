/** Resolves a path written in `file`; the result is relative to the same directory as `file`. */
export function besideFile(file: string, path: string): string {
  if (path.startsWith('/')) return path;
  const parts: string[] = [];
  const base = file.slice(0, file.lastIndexOf('/') + 1);
  for (const part of `${base}${path}`.split('/')) {
    if (part === '..' && parts.length > 0 && parts.at(-1) !== '..' && parts.at(-1) !== '') parts.pop();
    else if (part !== '.' && (part !== '' || parts.length === 0)) parts.push(part);
  }
  return parts.join('/');
}
