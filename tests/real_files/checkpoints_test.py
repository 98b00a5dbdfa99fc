"""Checkpoints that TensorFlow wrote, and those that it reads of Weft's."""
import unittest

import numpy

from kit import FilesTest, block, from_literal, literal, needs_tensorflow, text

TENSORS = {
    "dense/kernel": literal("DT_FLOAT", [0.5 * i for i in range(12)], [3, 4]),
    "dense/bias": literal("DT_DOUBLE", [1.25, -2.5]),
    "step": literal("DT_INT64", 1 << 40),
    "bytes": literal("DT_UINT8", [0, 127, 255]),
    "words": text([b"one", b"", b"\xff\x00", b"long " * 300]),
    "truths": literal("DT_BOOL", [True, False, True]),
    "nothing": literal("DT_FLOAT", [], [0, 3]),
}
TYPES = {"DT_FLOAT": "float32", "DT_DOUBLE": "float64", "DT_INT64": "int64", "DT_UINT8": "uint8", "DT_STRING": "string", "DT_BOOL": "bool"}


@needs_tensorflow
class CheckpointsTest(FilesTest):
    names, values = text(list(TENSORS)), list(TENSORS.values())
    whole = text([""] * len(TENSORS))
    dtypes = [value["dtype"] for value in TENSORS.values()]
    PARTS = {"tensor_names": text(["p", "p"]), "shape_and_slices": text(["4 2 0,1:-", "4 2 1,3:-"]),
             "tensors": [literal("DT_FLOAT", [1, 2], [1, 2]), literal("DT_FLOAT", [3, 4, 5, 6, 7, 8], [3, 2])]}

    def assert_values(self, found, expected=None):
        for name, got, value in zip(TENSORS, found, expected or self.values):
            wanted = from_literal(value)
            self.assertEqual((got.shape, got.dtype), (wanted.shape, wanted.dtype), name)
            self.assertEqual(got.tolist(), wanted.tolist(), name)

    def restore(self, prefix, slices=None, names=None, dtypes=None):
        dtypes = dtypes or self.dtypes
        blocks = [block("restore", "RestoreV2", f"dtypes_ = {{{','.join(dtypes)}}};", prefix=text(prefix), tensor_names=names or self.names,
                        shape_and_slices=slices or self.whole)]
        return self.run_blocks(blocks, [f"restore.tensors[{k}]" for k in range(len(dtypes))])

    def save_job(self, op, **inputs):
        return {"op": op, "inputs": inputs}

    def test_reads_version_2(self):
        parts = {"prefix": text("parts"), **self.PARTS}
        answers = self.tensorflow([
            self.save_job("SaveV2", prefix=text("all"), tensor_names=self.names, shape_and_slices=self.whole, tensors=self.values),
            self.save_job("SaveV2", **parts),
            {"op": "MergeV2Checkpoints", "inputs": {"checkpoint_prefixes": text(["all", "parts"]), "destination_prefix": text("merged")},
             "attrs": {"delete_old_dirs": False}}])
        self.assertEqual(answers, [[], [], []])
        self.assert_values(self.restore("merged"))
        found = self.restore("merged", text(["", "4 2 0,2:1,1"]), text(["p", "p"]), ["DT_FLOAT"] * 2)
        numpy.testing.assert_array_equal(found[0], numpy.arange(1, 9).reshape(4, 2))
        numpy.testing.assert_array_equal(found[1], [[2], [4]])

    def test_reads_version_1(self):
        answers = self.tensorflow([self.save_job("Save", filename=text("old"), tensor_names=self.names, data=self.values)])
        self.assertEqual(answers, [[]])
        self.assert_values(self.restore("old"))
        blocks = [block(f"r{k}", "Restore", f"dt_ = {dtype};", file_pattern=text("old"), tensor_name=text(name))
                  for k, (name, dtype) in enumerate(zip(TENSORS, self.dtypes))]
        self.assert_values(self.run_blocks(blocks, [f"r{k}.tensor" for k in range(len(blocks))]))

    def test_tensorflow_reads_ours(self):
        blocks = [block("new", "SaveV2", prefix=text("new"), tensor_names=self.names, shape_and_slices=self.whole, tensors=self.values),
                  block("more", "SaveV2", prefix=text("more"), **self.PARTS),
                  block("old", "Save", filename=text("old"), tensor_names=self.names, data=self.values)]
        self.run_blocks(blocks, run=["new", "more", "old"])
        merge = block("merge", "MergeV2Checkpoints", checkpoint_prefixes=text(["new", "more"]), destination_prefix=text("merged"))
        self.run_blocks([merge], run=["merge"])
        inputs = {"tensor_names": self.names, "shape_and_slices": self.whole}
        attrs = {"dtypes": [TYPES[dtype] for dtype in self.dtypes]}
        merged, old, part = self.tensorflow([
            {"op": "RestoreV2", "inputs": {"prefix": text("merged"), **inputs}, "attrs": attrs},
            {"op": "RestoreV2", "inputs": {"prefix": text("old"), **inputs}, "attrs": attrs},
            {"op": "RestoreV2", "inputs": {"prefix": text("merged"), "tensor_names": text(["p"]), "shape_and_slices": text(["4 2 0,2:1,1"])},
             "attrs": {"dtypes": ["float32"]}}])
        self.assert_values(merged)
        self.assert_values(old)
        numpy.testing.assert_array_equal(part[0], [[2], [4]])


if __name__ == "__main__":
    unittest.main()
