import { describe, expect, it } from "vitest";
import { parseNpy, writeNpy } from "./npy";
import { textAt } from "./format";
import { countOf, tensorFromBytes, type TensorValue } from "./tensor";

// What numpy 2 wrote, in base64. `*18*` stands for 18 times "ICAg", the spaces that pad the header.
const FILES = {
  float: "k05VTVBZAQB2AHsnZGVzY3InOiAnPGY0JywgJ2ZvcnRyYW5fb3JkZXInOiBGYWxzZSwgJ3NoYXBlJzogKDIsIDIpLCB9*19*IArNzMw9AAAgwAAAwH8AAIB/",
  bigDouble: "k05VTVBZAQB2AHsnZGVzY3InOiAnPmY4JywgJ2ZvcnRyYW5fb3JkZXInOiBGYWxzZSwgJ3NoYXBlJzogKDIsKSwgfSAg*19*IAo/+AAAAAAAAMAKAAAAAAAA",
  half: "k05VTVBZAQB2AHsnZGVzY3InOiAnPGYyJywgJ2ZvcnRyYW5fb3JkZXInOiBGYWxzZSwgJ3NoYXBlJzogKDMsKSwgfSAg*19*IAoBPP97AQA=",
  int64: "k05VTVBZAQB2AHsnZGVzY3InOiAnPGk4JywgJ2ZvcnRyYW5fb3JkZXInOiBGYWxzZSwgJ3NoYXBlJzogKDEsIDIpLCB9*19*IAoBAAAAAAAgAAAAAAAAAACA",
  uint64: "k05VTVBZAQB2AHsnZGVzY3InOiAnPHU4JywgJ2ZvcnRyYW5fb3JkZXInOiBGYWxzZSwgJ3NoYXBlJzogKCksIH0g*20*IAr//////////w==",
  bool: "k05VTVBZAQB2AHsnZGVzY3InOiAnfGIxJywgJ2ZvcnRyYW5fb3JkZXInOiBGYWxzZSwgJ3NoYXBlJzogKDMsKSwgfSAg*19*IAoBAAE=",
  complex64: "k05VTVBZAQB2AHsnZGVzY3InOiAnPGM4JywgJ2ZvcnRyYW5fb3JkZXInOiBGYWxzZSwgJ3NoYXBlJzogKDIsKSwgfSAg*19*IAoAAIA/AAAAQAAAAIAAAAC/",
  bigComplex128: "k05VTVBZAQB2AHsnZGVzY3InOiAnPmMxNicsICdmb3J0cmFuX29yZGVyJzogRmFsc2UsICdzaGFwZSc6ICgxLCksIH0g*19*IAo/8AAAAAAAAEAAAAAAAAAA",
  unicode: "k05VTVBZAQB2AHsnZGVzY3InOiAnPFU0JywgJ2ZvcnRyYW5fb3JkZXInOiBGYWxzZSwgJ3NoYXBlJzogKDIsIDIpLCB9*19*IApnAAAAcgAAAPwAAABuAAAAeAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAADlZQAALGcAAAAAAAAAAAAA",
  bytes: "k05VTVBZAQB2AHsnZGVzY3InOiAnfFMyJywgJ2ZvcnRyYW5fb3JkZXInOiBGYWxzZSwgJ3NoYXBlJzogKDIsKSwgfSAg*19*IAphYmMA",
  fortran: "k05VTVBZAQB2AHsnZGVzY3InOiAnPGk0JywgJ2ZvcnRyYW5fb3JkZXInOiBUcnVlLCAnc2hhcGUnOiAoMiwgMyksIH0g*19*IAoAAAAAAwAAAAEAAAAEAAAAAgAAAAUAAAA=",
  empty: "k05VTVBZAQB2AHsnZGVzY3InOiAnPGY0JywgJ2ZvcnRyYW5fb3JkZXInOiBGYWxzZSwgJ3NoYXBlJzogKDAsIDMpLCB9*19*IAo=",
  int8: "k05VTVBZAQB2AHsnZGVzY3InOiAnfGkxJywgJ2ZvcnRyYW5fb3JkZXInOiBGYWxzZSwgJ3NoYXBlJzogKDIsKSwgfSAg*19*IAqAfw==",
  words: "k05VTVBZAQB2AHsnZGVzY3InOiAnfFYyJywgJ2ZvcnRyYW5fb3JkZXInOiBGYWxzZSwgJ3NoYXBlJzogKDEsKSwgfSAg*19*IAqAPw==",
};

function file(name: keyof typeof FILES): ArrayBuffer {
  const text = FILES[name].replace(/\*(\d+)\*/g, (_, count: string) => "ICAg".repeat(Number(count)));
  return Uint8Array.from(atob(text), (char) => char.charCodeAt(0)).buffer;
}

const texts = (tensor: TensorValue) => Array.from({ length: countOf(tensor.shape) }, (_, i) => textAt(tensor, i));

describe("parseNpy", () => {
  const cases: [keyof typeof FILES, string, number[], string[]][] = [
    ["float", "DT_FLOAT", [2, 2], ["0.1", "-2.5", "nan", "inf"]],
    ["bigDouble", "DT_DOUBLE", [2], ["1.5", "-3.25"]],
    ["half", "DT_HALF", [3], ["1.001", "65504", "6e-8"]],
    ["int64", "DT_INT64", [1, 2], ["9007199254740993", "-9223372036854775808"]],
    ["uint64", "DT_UINT64", [], ["18446744073709551615"]],
    ["bool", "DT_BOOL", [3], ["true", "false", "true"]],
    ["complex64", "DT_COMPLEX64", [2], ["1+2j", "-0-0.5j"]],
    ["bigComplex128", "DT_COMPLEX128", [1], ["1+2j"]],
    ["unicode", "DT_STRING", [2, 2], ["grün", "x", "", "日本"]],
    ["bytes", "DT_STRING", [2], ["ab", "c"]],
    ["fortran", "DT_INT32", [2, 3], ["0", "1", "2", "3", "4", "5"]],
    ["empty", "DT_FLOAT", [0, 3], []],
    ["int8", "DT_INT8", [2], ["-128", "127"]],
    ["words", "DT_BFLOAT16", [1], ["1"]],
  ];
  it.each(cases)("reads %s", (name, dtype, shape, elements) => {
    const tensor = parseNpy(file(name));
    expect([tensor.dtype, tensor.shape, texts(tensor)]).toEqual([dtype, shape, elements]);
  });

  it("reads what writeNpy wrote", () => {
    for (const [name] of cases) {
      const tensor = parseNpy(file(name));
      const again = parseNpy(writeNpy(tensor).buffer as ArrayBuffer);
      expect([again.dtype, again.shape, texts(again)]).toEqual([tensor.dtype, tensor.shape, texts(tensor)]);
    }
  });

  it("writes numpy's own bytes", () => {
    for (const name of ["float", "half", "int64", "uint64", "bool", "complex64", "empty", "int8"] as const) {
      expect(writeNpy(parseNpy(file(name)))).toEqual(new Uint8Array(file(name)));
    }
  });

  it("says what is wrong", () => {
    expect(() => parseNpy(new ArrayBuffer(4))).toThrow("no .npy file");
    expect(() => parseNpy(file("float").slice(0, 60))).toThrow("ends within its header");
    expect(() => parseNpy(file("float").slice(0, -1))).toThrow("needs 16 bytes of elements, found 15");
    const object = new Uint8Array(file("float"));
    object.set([0x27, 0x7c, 0x4f, 0x27, 0x20], 20); // '|O'
    expect(() => parseNpy(object.buffer)).toThrow("Python objects");
    object.set([0x27, 0x3c, 0x4d, 0x38, 0x27], 20); // '<M8'
    expect(() => parseNpy(object.buffer)).toThrow("Weft has no type for numpy's '<M8': save it as another");
  });
});

describe("tensorFromBytes", () => {
  it("takes bytes that are not aligned, and refuses too few", () => {
    const bytes = new Uint8Array([9, 0, 0, 128, 63, 0, 0, 0, 64]).subarray(1);
    expect(texts(tensorFromBytes("DT_FLOAT", [2], bytes))).toEqual(["1", "2"]);
    expect(() => tensorFromBytes("DT_FLOAT", [3], bytes)).toThrow("needs 12 bytes, found 8");
  });
});
