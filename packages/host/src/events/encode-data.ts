/** The data of an event, which many streams share: in memory there is one copy, however many clients read slowly. */
export function encodeData(data: object): Uint8Array {
  return Buffer.from(JSON.stringify(data));
}
