/** An address without the name and the password that it may contain. */
export function hideLogin(address: string): string {
  if (!URL.canParse(address)) return address;
  const url = new URL(address);
  if (url.username === '' && url.password === '') return address;
  url.username = '';
  url.password = '';
  return url.href;
}
