/** Whether the lowest byte of a number comes first in memory. */
export const isLittleEndian = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1
