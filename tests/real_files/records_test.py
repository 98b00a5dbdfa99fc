"""Records in files of other programs: LMDB by its tools, compressed files by Python, TensorFlow's own, lines of CSV."""
import csv
import gzip
import io
import struct
import unittest
import zlib

import numpy

from kit import FilesTest, Refused, block, literal, needs, needs_tensorflow, run_program, text


def masked_crc32c(data):
    """The checksum of TensorFlow's records (Castagnoli's polynomial, bit by bit)."""
    checksum = 0xFFFFFFFF
    for byte in data:
        checksum ^= byte
        for _ in range(8):
            checksum = checksum >> 1 ^ (0x82F63B78 if checksum & 1 else 0)
    checksum ^= 0xFFFFFFFF
    return struct.pack("<I", ((checksum >> 15 | checksum << 17) + 0xA282EAD8) & 0xFFFFFFFF)


def tf_record(data):
    length = struct.pack("<Q", len(data))
    return length + masked_crc32c(length) + data + masked_crc32c(data)


class LmdbTest(FilesTest):
    """Files by mdb_load; their records, as mdb_dump gives them."""

    def load(self, pairs, *options, **head):
        lines = ["VERSION=3", "format=bytevalue", "type=btree", "mapsize=67108864", *(f"{k}={v}" for k, v in head.items()), "HEADER=END"]
        lines += [f" {one.hex()}" for pair in pairs for one in pair] + ["DATA=END", ""]
        path = self.folder / "data.mdb"
        path.unlink(missing_ok=True)
        run_program("mdb_load", "-n", *options, path, data="\n".join(lines).encode())
        return path

    def dumped(self, path):
        lines = run_program("mdb_dump", "-n", path).decode().splitlines()
        data = [bytes.fromhex(line[1:]) for line in lines[lines.index("HEADER=END") + 1 : lines.index("DATA=END")]]
        return data[::2], data[1::2]

    def assert_as_dumped(self, path, count):
        keys, values = self.dumped(path)
        self.assertEqual(len(keys), count)
        self.assertEqual(self.records("LMDBReader", "", path.name), (keys, values))

    @needs("mdb_load")
    def test_keys_in_order(self):
        pairs = [(f"key {i * 7919 % 3000}".encode(), f"value {i}".encode()) for i in range(3000)]
        self.assert_as_dumped(self.load(pairs), 3000)

    @needs("mdb_load")
    def test_large_values(self):
        pairs = [(bytes([i, 0, 255 - i]), bytes((i * k) % 251 for k in range(i * 900))) for i in range(1, 20)]
        self.assert_as_dumped(self.load(pairs), 19)

    @needs("mdb_load")
    def test_several_values_of_a_key(self):
        few = [(f"k{i % 3}".encode(), f"{i:05}".encode()) for i in range(12)]
        many = [(f"k{i % 3}".encode(), f"{i:05}".encode()) for i in range(3000)]
        for pairs in (few, many):
            for head in ({"dupsort": 1}, {"dupsort": 1, "dupfixed": 1}):
                with self.subTest(len(pairs), **head):
                    self.assert_as_dumped(self.load(pairs, **head), len(pairs))

    @needs("mdb_load")
    def test_changed_file(self):
        """The second load leaves pages of the first one free."""
        self.load([(f"{i:04}".encode(), b"x" * 300) for i in range(500)])
        path = self.folder / "data.mdb"
        more = "VERSION=3\nformat=print\ntype=btree\nHEADER=END\n 0007\n new\n 9999\n last\nDATA=END\n"
        run_program("mdb_load", "-n", path, data=more.encode())
        self.assert_as_dumped(path, 501)

    @needs("mdb_load")
    def test_cut(self):
        path = self.load([(f"{i:04}".encode(), b"x" * 300) for i in range(200)])
        data = path.read_bytes()
        for size in (100, 5000, len(data) // 2):
            path.write_bytes(data[:size])
            with self.subTest(size), self.assertRaises(Refused) as refused:
                self.records("LMDBReader", "", path.name)
            self.assertIn(refused.exception.code, ("data_loss",))


class PackedTest(FilesTest):
    RECORDS = [b"first", b"", bytes(range(256)) * 40, b"last"]

    def test_zlib_and_gzip(self):
        plain = b"".join(map(tf_record, self.RECORDS))
        half = len(tf_record(b"first")) + 7
        packed = {
            "": plain,
            "ZLIB": zlib.compress(plain, 9),
            "GZIP": gzip.compress(plain, 1),
        }
        for kind, data in packed.items():
            with self.subTest(kind):
                found = self.records("TFRecordReader", f"compression_type_ = {kind};" if kind else "", self.write("records", data))
                self.assertEqual(found[1], self.RECORDS)
        members = gzip.compress(plain[:half]) + gzip.compress(plain[half:])
        self.assertEqual(self.records("TFRecordReader", "compression_type_ = GZIP;", self.write("members", members))[1], self.RECORDS)

    @needs("gzip")
    def test_the_program_gzip(self):
        data = run_program("gzip", "-c", "-n", data=b"0123456789" * 3)
        found = self.records("FixedLengthRecordReader", "record_bytes_ = 10;encoding_ = GZIP;", self.write("fixed", data))
        self.assertEqual(found[1], [b"0123456789"] * 3)

    def test_cut(self):
        plain = b"".join(map(tf_record, self.RECORDS))
        for name, data in (("", plain[:-5]), ("ZLIB", zlib.compress(plain)[:-20]), ("GZIP", gzip.compress(plain)[:-20])):
            with self.subTest(name), self.assertRaises(Refused) as refused:
                self.records("TFRecordReader", f"compression_type_ = {name};" if name else "", self.write("cut", data))
            self.assertEqual(refused.exception.code, "data_loss")


class CsvTest(FilesTest):
    """What Python's csv module writes gives what it reads."""

    ROWS = [["1", "2.5", "plain", "a, b"], ["-7", "1e3", 'say "so"', ""], ["0", "-0.25", "", "ümlaut ✓"],
            ["2147483647", ".5", " blanks ", '"']]
    DEFAULTS = [literal("DT_INT32", 0), literal("DT_FLOAT", 0), text(""), text("")]

    def written(self, rows, **options):
        out = io.StringIO(newline="")
        csv.writer(out, **options).writerows(rows)
        return out.getvalue().encode()

    def decode(self, records, attrs=""):
        blocks = [block("csv", "DecodeCSV", attrs, records=text(records), record_defaults=self.DEFAULTS)]
        return self.run_blocks(blocks, [f"csv.output[{k}]" for k in range(4)])

    def assert_rows(self, columns, rows):
        self.assertEqual(columns[0].tolist(), [int(row[0]) for row in rows])
        numpy.testing.assert_array_equal(columns[1], numpy.array([float(row[1]) for row in rows], "f4"))
        for k in (2, 3):
            self.assertEqual(columns[k].tolist(), [row[k].encode() for row in rows])

    def test_lines(self):
        for options in ({}, {"lineterminator": "\n"}, {"quoting": csv.QUOTE_ALL}, {"quoting": csv.QUOTE_NONNUMERIC}):
            with self.subTest(**options):
                lines = self.records("TextLineReader", "", self.write("rows.csv", self.written(self.ROWS, **options)))[1]
                self.assertEqual(len(lines), len(self.ROWS))
                self.assert_rows(self.decode(lines), self.ROWS)

    def test_other_delimiters(self):
        for delimiter in (";", "|", " "):
            with self.subTest(delimiter):
                lines = self.records("TextLineReader", "", self.write("rows.csv", self.written(self.ROWS, delimiter=delimiter)))[1]
                self.assert_rows(self.decode(lines, f"field_delim_ = \"{delimiter}\";"), self.ROWS)

    def test_line_ends_in_fields(self):
        rows = [["1", "2", "two\nlines", "x"], ["3", "4", "\r\n", "\n"], ["5", "6", "old\rway", 'q"\n"q']]
        for k, row in enumerate(rows):
            with self.subTest(row):
                file = self.write(f"row{k}", self.written([row]).removesuffix(b"\r\n"))
                blocks = [block("file", "ReadFile", filename=text(file)),
                          block("csv", "DecodeCSV", records="file.contents", record_defaults=self.DEFAULTS)]
                found = self.run_blocks(blocks, [f"csv.output[{k}]" for k in range(4)])
                self.assert_rows([column.reshape(1) for column in found], [row])

    def test_line_ends_around_a_record(self):
        self.assert_rows(self.decode([b"\n1,2,a,b", b"1,2,a,b"]), [["1", "2", "a", "b"]] * 2)
        for end in (b"1,2,a,b\n\n1,2,a,b", b"1,2,a\nb,c"):
            with self.subTest(end), self.assertRaises(Refused) as refused:
                self.decode([end])
            self.assertEqual(refused.exception.code, "invalid_argument")


@needs_tensorflow
class TensorFlowTest(FilesTest):
    def test_reads_its_records(self):
        values = [b"one", b"", bytes(range(256)) * 300]
        kinds = ["", "ZLIB", "GZIP"]
        self.tensorflow([{"records": kind or "PLAIN", "compression": kind, "values": text(values)["values"]} for kind in kinds])
        for kind in kinds:
            with self.subTest(kind):
                self.assertEqual(self.records("TFRecordReader", f"compression_type_ = {kind};" if kind else "", kind or "PLAIN")[1], values)

    def test_same_csv(self):
        """Of odd records TensorFlow has the same fields, or refuses them, too."""
        records = [b"1,2,a,b", b"1,2,a,b\n", b"1,2,a,b\r\n", b"\n1,2,a,b", b"\r\n1,2,a,b", b'1,2,"a\nb",c', b'1,2,"a""b","c"', b'1,2,a"b,c',
                   b'1,2,"a"b,c', b'1,2,"a,b', b",,,", b"1,2,a", b"1,2,a,b,c", b" 1, 2,a,b", b"1 ,2 ,a,b", b"0x1,2,a,b", b"1,0x2,a,b",
                   b"1,2,a\rb,c", b"", b'"1","2","",""']
        defaults = CsvTest.DEFAULTS
        jobs = [{"op": "DecodeCSV", "inputs": {"records": text(record), "record_defaults": defaults}} for record in records]
        for record, theirs in zip(records, self.tensorflow(jobs)):
            with self.subTest(record):
                decode = block("csv", "DecodeCSV", records=text(record), record_defaults=defaults)
                try:
                    ours = self.run_blocks([decode], [f"csv.output[{k}]" for k in range(4)])
                except Refused as refused:
                    self.assertIsInstance(theirs, str, refused)
                    continue
                self.assertNotIsInstance(theirs, str, theirs)
                self.assertEqual([column.tolist() for column in ours], [column.tolist() for column in theirs])


if __name__ == "__main__":
    unittest.main()
