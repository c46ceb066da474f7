/** `first`, twice that, and so on below `most`, and `most` itself. */
export function doublingSizes(first: number, most: number): number[] {
  const sizes: number[] = [];
  for (let size = first; size < most; size *= 2) sizes.push(size);
  return [...sizes, most];
}
