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

const use = (id, type, x, y, pins = "") =>
  `\t<use id="${id}" type="tensorflow" xlink:href="#${type}" transform="translate(${x.toFixed(2)},${y.toFixed(2)}) rotate(0.00) scale(1.0000, 1.0000)">${pins}</use>\r\n`;
const pin = (name, shape, type, value) => `<pg-set-pin variable="#${name}" shape="${shape}" var-type="${type}" value="${value}"/>`;
const link = (from, output, to, input) => `\t<polyline><pg-link from-id="${from}" param-from="${output}" to-id="${to}" param-to="${input}"/></polyline>\r\n`;

/** A design page as enuSpace writes them: UTF-16 with a byte-order mark, blocks in places, wires in polylines. */
export const design = Buffer.from(`\uFEFF<?xml version="1.0" encoding="UTF-16"?>\r
<svg id="ID_test" enuspace-version="3.0.2.0" xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="1000" height="600">\r
${use("ID_A", "Const", 100, 120, pin("value", "[2][2]", "float", "1;2;3;4"))}${use("ID_B", "Const", 100, 300, pin("value", "[2][1]", "float", "1;1"))}\
${use("ID_MUL", "MatMul", 420, 200)}${use("ID_SUM", "Square", 700, 200)}${use("ID_RUN", "ClientSession", 940, 220)}\
${link("ID_A", "output", "ID_MUL", "a")}${link("ID_B", "output", "ID_MUL", "b")}${link("ID_MUL", "product", "ID_SUM", "x")}${link("ID_SUM", "y", "ID_RUN", "fetch_outputs")}\
</svg>\r\n`, "utf16le");

/** Many small networks beside each other, each in a frame: `rows` times `columns` of about 41 blocks. */
export function networks(rows, columns) {
  const blocks = [];
  const layout = {};
  const frames = [];
  const colors = ["blue", "violet", "teal", "green", "amber", "orange"];
  for (let n = 0; n < rows * columns; n++) {
    const [left, top] = [(n % columns) * 2100, Math.floor(n / columns) * 1160];
    const members = [];
    const put = (name, type, x, y, inputs, attrs) => {
      const id = `n${n}_${name}`;
      blocks.push(block(id, type, inputs, attrs));
      layout[id] = [left + x * 200, top + y * 110];
      members.push(id);
      return id;
    };
    let last = `${put("x", "Const", 0, 0, { value: floats([2, 2], [0.1 * (n % 7), 1, -1, 0.5]) })}.output`;
    for (let layer = 0; layer < 8; layer++) {
      const y = layer % 2;
      const w = put(`w${layer}`, "Const", layer, 2 + y, { value: floats([2, 2], [0.5, -0.5, 0.25, 1]) });
      const b = put(`b${layer}`, "Const", layer, 4 + y, { value: floats([2], [0.1, -0.1]) });
      const product = put(`mul${layer}`, "MatMul", layer + 1, y, { a: last, b: `${w}.output` });
      const sum = put(`add${layer}`, "BiasAdd", layer + 1, 2 + y, { value: `${product}.product`, bias: `${b}.output` });
      last = `${put(`act${layer}`, ["Tanh", "Sigmoid", "Softmax", "Relu"][layer % 4], layer + 1, 6 + y, { [layer % 4 === 2 ? "logits" : layer % 4 === 3 ? "features" : "x"]: `${sum}.output` })}.${["y", "y", "softmax", "activations"][layer % 4]}`;
    }
    frames.push({ id: `f${n}`, title: `Network ${n + 1}`, color: colors[n % colors.length], blocks: members });
  }
  return { weft: 1, page: "networks", blocks, layout, frames };
}
