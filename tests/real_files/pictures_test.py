"""Pictures of other programs give their pixels; what Weft encodes gives other programs its pixels."""
import io
import unittest

import numpy

from kit import FilesTest, Refused, block, literal, missing, needs, needs_tensorflow, run_program, text

try:
    import pictures
    from PIL import Image
except ImportError:
    raise unittest.SkipTest("needs Pillow: Debian's python3-pil")


def pixels(data, mode="RGB"):
    """Of Pillow."""
    with Image.open(io.BytesIO(data)) as opened:
        return numpy.asarray(opened.convert(mode) if mode else opened)


class PicturesTest(FilesTest):
    def decode(self, kind, data, attrs="", name="picture"):
        blocks = [block("file", "ReadFile", filename=text(self.write(name, data))),
                  block("picture", f"Decode{kind}", attrs, contents="file.contents")]
        return self.run_blocks(blocks, ["picture.image"])[0]

    def assert_pixels(self, found, expected, most=0):
        found, expected = numpy.atleast_3d(found), numpy.atleast_3d(expected)
        self.assertEqual(found.shape, expected.shape)
        self.assertEqual(found.dtype, expected.dtype)
        self.assertLessEqual(int(numpy.abs(found.astype(int) - expected.astype(int)).max()), most)

    def assert_cuts_refused(self, kind, data, code="invalid_argument", attrs=""):
        for part in (0.02, 0.3, 0.9):
            with self.subTest(part=part), self.assertRaises(Refused) as refused:
                self.decode(kind, data[: int(len(data) * part)], attrs)
            self.assertEqual(refused.exception.code, code)
            self.assertEqual(refused.exception.port, "contents")


class JpegTest(PicturesTest):
    """Pillow and cjpeg's djpeg decode by libjpeg-turbo, too, with the accurate transform. The fast one, Weft's default as TensorFlow's,
    rounds in more places: a sample differs by a few levels."""

    ACCURATE = "dct_method_ = INTEGER_ACCURATE;"
    FAST_DIFFERS = 10

    def check(self, files):
        for name, data in files.items():
            with self.subTest(name):
                mode = "L" if "grey" in name else "RGB"
                self.assert_pixels(self.decode("Jpeg", data, self.ACCURATE), pixels(data, mode))
                self.assert_pixels(self.decode("Jpeg", data), pixels(data, mode), self.FAST_DIFFERS)

    def test_pillow(self):
        self.check(pictures.jpegs())

    @needs("cjpeg")
    def test_cjpeg(self):
        self.check(pictures.jpegs_of_cjpeg())

    @needs("cjpeg")
    def test_arithmetic_coding(self):
        data = pictures.cjpeg("-arithmetic")
        expected = pixels(run_program("djpeg", data=data))
        self.assert_pixels(self.decode("Jpeg", data, self.ACCURATE), expected)

    def test_channels(self):
        colour, grey = pictures.jpegs()["baseline"], pictures.jpegs()["grey"]
        with Image.open(io.BytesIO(colour)) as opened:
            opened.draft("L", opened.size)  # the grey that the file has, rather than one that is made of its colours
            luminance = numpy.asarray(opened)
        self.assert_pixels(self.decode("Jpeg", colour, self.ACCURATE + "channels_ = 1;"), luminance)
        self.assert_pixels(self.decode("Jpeg", grey, self.ACCURATE + "channels_ = 3;"), pixels(grey, "RGB"))

    def test_ratio(self):
        data = pictures.jpegs()["444"]
        for ratio in (2, 4, 8):
            with self.subTest(ratio), Image.open(io.BytesIO(data)) as opened:
                opened.draft("RGB", (pictures.WIDTH // ratio, pictures.HEIGHT // ratio))
                self.assert_pixels(self.decode("Jpeg", data, self.ACCURATE + f"ratio_ = {ratio};"), numpy.asarray(opened))

    def test_inks(self):
        """C * K / 255, of inks that Adobe's files, which Pillow writes, have the wrong way round."""
        for name, progressive in (("inks", False), ("inks, progressive", True)):
            with self.subTest(name):
                data = pictures.saved(pictures.image("CMYK"), "JPEG", quality=90, progressive=progressive)
                inks = 255 - pixels(data, "CMYK").astype(int)
                self.assert_pixels(self.decode("Jpeg", data, self.ACCURATE), (inks[..., :3] * inks[..., 3:] // 255).astype("u1"))

    @needs("convert")
    def test_inks_of_image_magick(self):
        data = pictures.magick(pictures.ppm(), "-colorspace", "CMYK", "-quality", "90", "jpeg:-")
        self.assertEqual(Image.open(io.BytesIO(data)).mode, "CMYK")
        inks = 255 - pixels(data, "CMYK").astype(int)
        self.assert_pixels(self.decode("Jpeg", data, self.ACCURATE), (inks[..., :3] * inks[..., 3:] // 255).astype("u1"))

    def test_cut(self):
        data = pictures.jpegs()["444"]
        self.assert_cuts_refused("Jpeg", data)
        whole = self.decode("Jpeg", data)
        found = self.decode("Jpeg", data[:-300], "try_recover_truncated_ = true;")
        self.assertEqual(found.shape, whole.shape)
        numpy.testing.assert_array_equal(found[:8], whole[:8])
        self.assertFalse(numpy.array_equal(found, whole))


class PngTest(PicturesTest):
    def test_pillow(self):
        for name, data in pictures.pngs().items():
            with self.subTest(name):
                clear = name in ("rgba", "palette_transparent")
                mode = "LA" if name == "grey_alpha" else "RGBA" if clear else "L" if name.startswith(("grey", "one")) else "RGB"
                self.assert_pixels(self.decode("Png", data), pixels(data, mode))

    def test_channels(self):
        for name, data in pictures.pngs().items():
            for channels, mode in ((3, "RGB"), (4, "RGBA")):
                with self.subTest(name, channels=channels), Image.open(io.BytesIO(data)) as opened:
                    # What is transparent keeps its colour where no alpha is asked for, as in Pillow.
                    expected = numpy.asarray(opened.convert("RGBA"))[..., :channels]
                    self.assert_pixels(self.decode("Png", data, f"channels_ = {channels};"), expected)

    @needs("convert")
    def test_image_magick(self):
        for name, (data, head) in pictures.pngs_of_magick().items():
            with self.subTest(name):
                self.assertEqual(pictures.head_of_png(data), head)
                form = "gray" if head[1] == 0 else "rgb"
                shape = (pictures.HEIGHT, pictures.WIDTH, 1 if head[1] == 0 else 3)
                expected = run_program("convert", "-", "-depth", "16", "-endian", "LSB", form + ":-", data=data)
                wide = numpy.frombuffer(expected, "<u2").reshape(shape)
                narrow = (wide >> 8).astype("u1")
                self.assert_pixels(self.decode("Png", data, "dtype_ = DT_UINT16;"), wide)
                self.assert_pixels(self.decode("Png", data), narrow)

    def test_cut(self):
        self.assert_cuts_refused("Png", pictures.pngs()["rgb"])

    def test_ours(self):
        for channels, mode in ((1, "L"), (3, "RGB"), (4, "RGBA")):
            with self.subTest(channels=channels):
                picture = numpy.dstack([pictures.scene(), pictures.alpha()])[..., :channels]
                blocks = [block("file", "EncodePng", image=literal("DT_UINT8", picture.ravel().tolist(), list(picture.shape)))]
                contents = self.run_blocks(blocks, ["file.contents"])[0].item()
                self.assertEqual(Image.open(io.BytesIO(contents)).mode, mode)
                self.assert_pixels(pixels(contents, None), picture)


class GifTest(PicturesTest):
    def frames(self, data):
        with Image.open(io.BytesIO(data)) as opened:
            found = []
            for k in range(opened.n_frames):
                opened.seek(k)
                found.append(numpy.asarray(opened.convert("RGB")))
            return numpy.stack(found)

    def assert_frames(self, found, expected):
        self.assertEqual(found.shape, expected.shape)
        numpy.testing.assert_array_equal(found, expected)

    def test_pillow(self):
        files = pictures.gifs()
        boxes = pictures.frame_boxes(files["animated"])
        self.assertEqual(len(boxes), 4)
        self.assertLess(boxes[1][2], pictures.WIDTH)  # a part of the canvas
        self.assertTrue(pictures.frame_boxes(files["interlaced"])[0][4])
        self.assertFalse(pictures.frame_boxes(files["one_frame"])[0][4])
        for name, data in files.items():
            with self.subTest(name):
                self.assert_frames(self.decode("Gif", data), self.frames(data))

    @needs("convert")
    def test_image_magick(self):
        for name, data in pictures.gifs_of_magick().items():
            with self.subTest(name):
                boxes = pictures.frame_boxes(data)
                self.assertTrue(any(box[5] if "transparent" in name else box[2] < pictures.WIDTH for box in boxes[1:]))
                expected = run_program("convert", "-", "-coalesce", "-depth", "8", "rgb:-", data=data)
                shape = (4, pictures.HEIGHT, pictures.WIDTH, 3)
                self.assert_frames(self.decode("Gif", data), numpy.frombuffer(expected, "u1").reshape(shape))

    def test_one_frame_as_a_picture(self):
        data = pictures.gifs()["one_frame"]
        self.assert_pixels(self.decode("Png", data), self.frames(data)[0])
        with self.assertRaises(Refused):
            self.decode("Png", pictures.gifs()["animated"])

    def test_cut(self):
        """Frames before the cut count, as in TensorFlow."""
        data = pictures.gifs()["animated"]
        self.assert_frames(self.decode("Gif", data[:-20]), self.frames(data)[:3])
        with self.assertRaises(Refused) as refused:
            self.decode("Gif", data[: len(data) // 4])
        self.assertEqual(refused.exception.code, "invalid_argument")


class BmpTest(PicturesTest):
    def test_pillow(self):
        for name, data in pictures.bmps().items():
            with self.subTest(name):
                # (Pillow does not read the alpha that it wrote.)
                expected = numpy.asarray(pictures.rgba()) if name == "rgba" else pixels(data, "L" if name == "grey" else "RGB")
                self.assert_pixels(self.decode("Bmp", data), expected)

    def test_palette(self):
        """The bytes of the file are grey: the palette is not read, as in TensorFlow."""
        picture = pictures.image().quantize(40)
        self.assert_pixels(self.decode("Bmp", pictures.saved(picture, "BMP")), numpy.asarray(picture))

    @needs("convert")
    def test_image_magick(self):
        for form in ("bmp3:-", "bmp:-"):
            with self.subTest(form):
                self.assert_pixels(self.decode("Bmp", pictures.magick(pictures.ppm(), "-type", "TrueColor", form)), pictures.scene())

    @needs("convert")
    def test_run_lengths_are_refused(self):
        flat = numpy.zeros((16, 16, 3), "u1")
        flat[4:9] = 200
        data = pictures.magick(pictures.ppm(flat), "-type", "Palette", "-compress", "RLE", "bmp3:-")
        self.assertEqual(data[30], 1)
        with self.assertRaises(Refused):
            self.decode("Bmp", data)

    def test_cut(self):
        self.assert_cuts_refused("Bmp", pictures.bmps()["rgb"])


@needs_tensorflow
class TensorFlowTest(PicturesTest):
    """TensorFlow says the same of every file, also of those that are cut: pixels, or that it refuses them. What both decode by
    libjpeg-turbo has the same bits."""

    @staticmethod
    def files():
        made = {"Jpeg": pictures.jpegs(), "Png": pictures.pngs(), "Gif": pictures.gifs(), "Bmp": pictures.bmps()}
        made["Jpeg"]["inks"] = pictures.saved(pictures.image("CMYK"), "JPEG", quality=90)
        if not missing("cjpeg"):
            made["Jpeg"].update(pictures.jpegs_of_cjpeg())
        if not missing("convert"):
            made["Png"].update({name: data for name, (data, _) in pictures.pngs_of_magick().items()})
            made["Gif"].update(pictures.gifs_of_magick())
        return made

    ATTRS = {"Jpeg": ({}, {"dct_method": "INTEGER_ACCURATE"}, {"channels": 1}, {"channels": 3, "ratio": 2}, {"try_recover_truncated": True},
                      {"acceptable_fraction": 0.25, "fancy_upscaling": False}),
             "Png": ({}, {"dtype": "uint16"}, {"channels": 3}, {"channels": 4}), "Gif": ({},), "Bmp": ({}, {"channels": 3})}
    CUT_ATTRS = {"Jpeg": ({}, {"try_recover_truncated": True}, {"acceptable_fraction": 0.25}), "Png": ({},), "Gif": ({},), "Bmp": ({},)}

    @staticmethod
    def weft_attrs(attrs):
        texts = {"True": "true", "False": "false", "uint16": "DT_UINT16"}
        return "".join(f"{name}_ = {texts.get(str(value), value)};" for name, value in attrs.items())

    def decode_all(self, kind, file, attrs):
        """With each of the attributes: a picture, or why there is none. All in one page where none is refused."""
        attrs = [self.weft_attrs(each) for each in attrs]
        blocks = [block("file", "ReadFile", filename=text(file))]
        blocks += [block(f"picture{k}", f"Decode{kind}", each, contents="file.contents") for k, each in enumerate(attrs)]
        try:
            return self.run_blocks(blocks, [f"picture{k}.image" for k in range(len(attrs))])
        except Refused:
            return [self.decode_or_say(kind, file, each) for each in attrs]

    def decode_or_say(self, kind, file, attrs):
        try:
            return self.decode(kind, (self.folder / file).read_bytes(), attrs, file)
        except Refused as refused:
            return str(refused)

    def differ(self, kind, file, attrs, ours, theirs):
        if isinstance(ours, str) or isinstance(theirs, str):
            return isinstance(ours, str) != isinstance(theirs, str)
        theirs = theirs[0]
        data = (self.folder / file).read_bytes()
        if kind == "Png" and attrs.get("channels") == 4 and pictures.head_of_png(data)[0] < 8:
            # TensorFlow gives an alpha of 2^bits - 1, which is nearly transparent (cases of DecodePng); Weft an opaque one.
            opaque = ours[..., 3].min() == 255
            return not opaque or not numpy.array_equal(ours[..., :3], theirs[..., :3])
        return ours.dtype != theirs.dtype or not numpy.array_equal(ours, theirs)

    def check(self, files, attrs_of):
        """Prints how many are read; files: (kind, name, bytes)."""
        groups = [(kind, name, self.write(f"{kind}{number}", data), attrs_of[kind]) for number, (kind, name, data) in enumerate(files)]
        tries = [(kind, name, file, attrs) for kind, name, file, group in groups for attrs in group]
        theirs = self.tensorflow([{"op": f"Decode{kind}", "inputs": {"contents": {"contents_of": file}}, "attrs": attrs}
                                  for kind, _, file, attrs in tries])
        ours = [one for kind, _, file, group in groups for one in self.decode_all(kind, file, group)]
        self.assertEqual(len(ours), len(theirs))
        found = [f"{kind} {name} {attrs}: {described(our)}, TensorFlow: {described(their)}"
                 for (kind, name, file, attrs), our, their in zip(tries, ours, theirs) if self.differ(kind, file, attrs, our, their)]
        self.assertFalse(found, "\n".join(found))
        refused = sum(isinstance(their, str) for their in theirs)
        print(f"{len(tries) - refused} pictures are as TensorFlow has them, {refused} are refused as there")

    def test_same(self):
        self.check([(kind, name, data) for kind, files in self.files().items() for name, data in files.items()], self.ATTRS)

    def test_same_of_what_is_cut(self):
        self.check([(kind, f"{name}, {part} of it", data[: int(len(data) * part)])
                    for kind, files in self.files().items() for name, data in files.items() for part in (0.5, 0.95)], self.CUT_ATTRS)

    def test_reads_ours(self):
        picture = literal("DT_UINT8", pictures.scene().ravel().tolist(), list(pictures.scene().shape))
        wide = literal("DT_UINT16", pictures.wide(3).ravel().tolist(), list(pictures.wide(3).shape))
        made = {"png": block("png", "EncodePng", image=picture), "wide": block("wide", "EncodePng", image=wide),
                "jpeg": block("jpeg", "EncodeJpeg", "progressive_ = true;quality_ = 80;", image=picture)}
        found = self.run_blocks(list(made.values()), [f"{name}.contents" for name in made])
        for name, contents in zip(made, found):
            self.write(name, contents.item())
        jobs = [{"op": "DecodePng", "inputs": {"contents": {"contents_of": "png"}}},
                {"op": "DecodePng", "inputs": {"contents": {"contents_of": "wide"}}, "attrs": {"dtype": "uint16"}},
                {"op": "DecodeJpeg", "inputs": {"contents": {"contents_of": "jpeg"}}},
                {"op": "EncodeJpeg", "inputs": {"image": picture}, "attrs": {"progressive": True, "quality": 80}}]
        png, wide_png, jpeg, encoded = (answer[0] for answer in self.tensorflow(jobs))
        numpy.testing.assert_array_equal(png, pictures.scene())
        numpy.testing.assert_array_equal(wide_png, pictures.wide(3))
        numpy.testing.assert_array_equal(jpeg, self.decode("Jpeg", (self.folder / "jpeg").read_bytes()))
        self.assertEqual(encoded.item(), (self.folder / "jpeg").read_bytes())


def described(found):
    if isinstance(found, str):
        return found.splitlines()[0]
    array = found[0] if isinstance(found, list) else found
    return f"{array.shape} {array.dtype}"


if __name__ == "__main__":
    unittest.main()
