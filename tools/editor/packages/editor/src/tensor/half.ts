/** Numbers as words of 16 bits; the client reads those. */

const scratch = new DataView(new ArrayBuffer(4));

/** The half word nearest to the number, ties to even. */
export function numberToHalf(value: number): number {
  if (Number.isNaN(value)) return 0x7e00;
  const sign = value < 0 || Object.is(value, -0) ? 0x8000 : 0;
  const size = Math.abs(value);
  if (size >= 65520) return sign | 0x7c00;
  if (size < 2 ** -14) return sign | roundEven(size * 2 ** 24);
  let exponent = Math.floor(Math.log2(size));
  if (2 ** exponent > size) exponent -= 1;
  // A fraction that is rounded up to 1024 carries into the exponent, which is what it should do.
  return sign | (((exponent + 15) << 10) + roundEven((size / 2 ** exponent - 1) * 1024));
}

function roundEven(value: number): number {
  const down = Math.floor(value);
  const rest = value - down;
  if (rest !== 0.5) return Math.round(value);
  return down % 2 === 0 ? down : down + 1;
}

/** The bfloat16 word nearest to the number, ties to even. */
export function numberToBfloat16(value: number): number {
  if (Number.isNaN(value)) return 0x7fc0;
  scratch.setFloat32(0, value);
  const bits = scratch.getUint32(0);
  // What was rounded to a float already may stand on a tie that the number itself is beside.
  let low = bits & 0xffff;
  const float = scratch.getFloat32(0);
  if (low === 0x8000 && float !== value) low += Math.abs(value) > Math.abs(float) ? 1 : -1;
  const high = bits >>> 16;
  if (low > 0x8000 || (low === 0x8000 && high & 1)) return (high + 1) & 0xffff;
  return high;
}
