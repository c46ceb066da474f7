import { writeFile } from 'node:fs/promises';

const [url, file] = process.argv.slice(2);
const response = await fetch(url);
await writeFile(file, await response.text());
