// Pages of the tests that are no samples.
const block = (id, type, inputs, attrs) => ({ id, block: type, ...(attrs ? { attrs } : {}), ...(inputs ? { inputs } : {}) });
const floats = (shape, values) => ({ dtype: "DT_FLOAT", shape, values });
const ints = (shape, values) => ({ dtype: "DT_INT32", shape, values });

/** The logarithm of a negative number is NaN, and so is what is made of it. */
export const logarithm = {
  weft: 1, page: "logarithm",
  blocks: [
    block("x", "Const", { value: floats([2], [-1, 1]) }),
    block("logs", "Log", { x: "x.output" }),
    block("sum", "Sum", { input: "logs.y", axis: ints([1], [0]) }),
    block("run", "ClientSession", { fetch_outputs: ["sum.output"] }),
  ],
  layout: { x: [40, 80], logs: [280, 80], sum: [500, 80], run: [740, 80] },
};

/** A wire from an output that is not there, and a block of an unknown type, far from where the page opens. */
export const faulty = {
  weft: 1, page: "faulty",
  blocks: [
    block("x", "Const", { value: floats([2], [1, 2]) }),
    block("near", "Square", { x: "x.outptu" }),
    ...Array.from({ length: 40 }, (_, k) => block(`c${k}`, "Const", { value: floats([], [k]) })),
    block("far", "Squares", { x: "near.y" }),
  ],
  layout: { x: [40, 80], near: [300, 80], far: [9000, 3000], ...Object.fromEntries(Array.from({ length: 40 }, (_, k) => [`c${k}`, [40 + 220 * k, 400]])) },
};
