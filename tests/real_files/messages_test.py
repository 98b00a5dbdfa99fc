"""Messages that TensorFlow serialised, and those that it parses of Weft's."""
import json
import unittest

import numpy

from kit import FilesTest, block, from_literal, literal, needs_tensorflow, text

EXAMPLE = {"features": {"feature": {
    "ints": {"int64List": {"value": ["7", "-1", str(1 << 62)]}},
    "floats": {"floatList": {"value": [0.5, -2.25]}},
    "words": {"bytesList": {"value": ["b25l", "", "/wA="]}},
}}}
TENSORS = [literal("DT_FLOAT", [0.5, -1.5, 3e38, 1e-40, 0, 7], [2, 3]), literal("DT_DOUBLE", [1.25]), literal("DT_INT64", [-1, 1 << 62]),
           literal("DT_INT32", 5), literal("DT_UINT8", [0, 255]), literal("DT_BOOL", [True, False]), text([b"one", b"", b"\xff\x00"]),
           literal("DT_FLOAT", [], [0, 2])]


@needs_tensorflow
class MessagesTest(FilesTest):
    def test_parses_its_tensors(self):
        serialized = self.tensorflow([{"op": "SerializeTensor", "inputs": {"tensor": value}} for value in TENSORS])
        blocks = [block(f"t{k}", "ParseTensor", f"out_type_ = {value['dtype']};", serialized=text(message[0].item()))
                  for k, (value, message) in enumerate(zip(TENSORS, serialized))]
        for value, found in zip(TENSORS, self.run_blocks(blocks, [f"t{k}.output" for k in range(len(TENSORS))])):
            with self.subTest(value["dtype"], shape=value["shape"]):
                wanted = from_literal(value)
                self.assertEqual((found.shape, found.dtype), (wanted.shape, wanted.dtype))
                self.assertEqual(found.tolist(), wanted.tolist())

    def test_parses_its_examples(self):
        message = self.tensorflow([{"example": EXAMPLE}])[0][0].item()
        parse = block("parse", "ParseExample", "sparse_types_ = {DT_STRING};dense_shapes_ = {[3],[2]};", serialized=text([message]), names=text([]),
                      sparse_keys=[text("words")], dense_keys=[text("ints"), text("floats")],
                      dense_defaults=[literal("DT_INT64", []), literal("DT_FLOAT", [])])
        words, ints, floats = self.run_blocks([parse], ["parse.sparse_values[0]", "parse.dense_values[0]", "parse.dense_values[1]"])
        self.assertEqual(words.tolist(), [b"one", b"", b"\xff\x00"])
        numpy.testing.assert_array_equal(ints, [[7, -1, 1 << 62]])
        numpy.testing.assert_array_equal(floats, [[0.5, -2.25]])

    def test_parses_ours(self):
        """Both make the same message of JSON."""
        written = text([json.dumps(EXAMPLE)])
        ours = self.run_blocks([block("json", "DecodeJSONExample", json_examples=written)], ["json.binary_examples"])[0]
        theirs, parsed = self.tensorflow([
            {"op": "DecodeJSONExample", "inputs": {"json_examples": written}},
            {"op": "ParseExample",
             "inputs": {"serialized": text(ours.tolist()), "names": text([]), "sparse_keys": [text("words")], "dense_keys": [text("ints")],
                        "dense_defaults": [literal("DT_INT64", [])]},
             "attrs": {"sparse_types": ["string"], "dense_shapes": [[3]]}}])
        self.assertEqual(sorted(ours.item()), sorted(theirs[0].item()))  # features come in any order
        self.assertEqual(parsed[1].tolist(), [b"one", b"", b"\xff\x00"])
        numpy.testing.assert_array_equal(parsed[3], [[7, -1, 1 << 62]])


if __name__ == "__main__":
    unittest.main()
