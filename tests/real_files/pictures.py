"""Files of pictures by Pillow, ImageMagick and cjpeg. Each maker gives the bytes of a file."""
import io
import struct

import numpy
from PIL import Image

from kit import run_program

WIDTH, HEIGHT = 45, 31  # no multiples of the blocks of JPEG and of the bytes of small pixels


def scene(width=WIDTH, height=HEIGHT):
    """A picture with smooth parts, edges and fine detail: uint8 [height, width, 3]."""
    y, x = numpy.mgrid[0:height, 0:width]
    picture = numpy.stack([x * 255 // (width - 1), y * 255 // (height - 1), (x * y * 7) % 256], axis=2)
    picture[5:15, 10:25] = (250, 10, 30)
    return picture.astype("u1")


def alpha():
    y, x = numpy.mgrid[0:HEIGHT, 0:WIDTH]
    return ((x * 5 + y * 3) % 256).astype("u1")


def wide(channels):
    """uint16, with differing low bytes."""
    layers = [scene().astype("u2")[..., c] * 257 + (numpy.arange(WIDTH) * (c + 3)) % 50 for c in range(3)] + [alpha().astype("u2") * 257]
    return numpy.minimum(numpy.stack(layers[:channels], axis=2), 65535).astype("u2")


def image(mode="RGB"):
    return Image.fromarray(scene()).convert(mode)


def rgba():
    return Image.fromarray(numpy.dstack([scene(), alpha()]), "RGBA")


def saved(picture, form, **options):
    out = io.BytesIO()
    picture.save(out, form, **options)
    return out.getvalue()


def ppm(array=None):
    """As netpbm's portable map, of 8 or 16 bits, which ImageMagick and cjpeg read."""
    array = scene() if array is None else array
    most = 255 if array.dtype == numpy.uint8 else 65535
    kind = 6 if array.shape[2] == 3 else 5
    return b"P%d %d %d %d\n" % (kind, array.shape[1], array.shape[0], most) + array.astype(">u2" if most > 255 else "u1").tobytes()


def magick(data, *options):
    """What ImageMagick makes of a file, without the time in it."""
    return run_program("convert", "-", *options[:-1], "+set", "date:create", "+set", "date:modify", options[-1], data=data)


def cjpeg(*options):
    return run_program("cjpeg", "-quality", "80", *options, data=ppm())


def exif():
    tags = Image.Exif()
    tags[0x0112] = 6  # to be turned by whoever shows it
    tags[0x010E] = "a description"
    return tags


def jpegs():
    return {
        "baseline": saved(image(), "JPEG", quality=85),
        "444": saved(image(), "JPEG", quality=90, subsampling=0),
        "422": saved(image(), "JPEG", quality=70, subsampling=1),
        "420": saved(image(), "JPEG", quality=70, subsampling=2),
        "progressive": saved(image(), "JPEG", quality=80, progressive=True),
        "optimized": saved(image(), "JPEG", quality=80, optimize=True),
        "grey": saved(image("L"), "JPEG", quality=80),
        "grey_progressive": saved(image("L"), "JPEG", quality=80, progressive=True),
        "exif": saved(image(), "JPEG", quality=80, exif=exif()),
        "comment": saved(image(), "JPEG", quality=80, comment=b"a comment"),
    }


def jpegs_of_cjpeg():
    return {
        "restart": cjpeg("-restart", "1"),
        "restart_blocks": cjpeg("-restart", "2B", "-sample", "1x1"),
        "progressive_restart": cjpeg("-progressive", "-restart", "1"),
        "sample_411": cjpeg("-sample", "4x1"),
        "sample_440": cjpeg("-sample", "1x2"),
        "rgb": cjpeg("-rgb"),
    }


def pngs():
    palette = image().quantize(200)
    return {
        "rgb": saved(image(), "PNG"),
        "rgba": saved(rgba(), "PNG"),
        "grey": saved(image("L"), "PNG"),
        "grey_alpha": saved(rgba().convert("LA"), "PNG"),
        "one_bit": saved(image("1"), "PNG"),
        "palette": saved(palette, "PNG"),
        "palette_transparent": saved(palette, "PNG", transparency=bytes(range(0, 200, 2))),
        "palette_4_bit": saved(image().quantize(13), "PNG", bits=4),
        "palette_2_bit": saved(image().quantize(4), "PNG", bits=2),
        "palette_1_bit": saved(image().quantize(2), "PNG", bits=1),
        "rgb_transparent": saved(image(), "PNG", transparency=(250, 10, 30)),
        "grey_transparent": saved(image("L"), "PNG", transparency=int(scene()[0, 0, 0])),
    }


def pngs_of_magick():
    """Each with its bits, its colour type and whether it is interlaced, as its head must say."""
    def png(bits, colour, array=None, interlaced=True, *options):
        wanted = ["-define", f"png:bit-depth={bits}", "-define", f"png:color-type={colour}", "-interlace", "PNG" if interlaced else "None"]
        return magick(ppm(array), *options, *wanted, "png:-"), (bits, colour, int(interlaced))

    grey = scene()[..., :1]
    return {
        "interlaced": png(8, 2),
        "wide": png(16, 2, wide(3), False),
        "wide_interlaced": png(16, 2, wide(3)),
        "wide_grey": png(16, 0, wide(1), False),
        "grey_interlaced": png(8, 0, grey),
        "grey_4_bit": png(4, 0, grey // 17 * 17, False),
        "grey_2_bit": png(2, 0, grey // 85 * 85, False),
        "grey_1_bit_interlaced": png(1, 0, grey // 128 * 255),
    }


def head_of_png(data):
    """Bits, colour type, interlaced."""
    return data[24], data[25], data[28]


def frames(count=4):
    """A picture in which a square moves: RGB."""
    made = []
    for k in range(count):
        array = scene() // 64 * 64
        array[8:14, 5 + 7 * k : 12 + 7 * k] = (255, 255, 64 * k)
        made.append(Image.fromarray(array.astype("u1")))
    return made


def gifs():
    first, *others = frames()
    return {
        "animated": saved(first, "GIF", save_all=True, append_images=others, duration=40, loop=0),
        "one_frame": saved(image().quantize(64), "GIF", interlace=0),
        "interlaced": saved(image().quantize(64), "GIF", interlace=1),
        "grey": saved(image("L"), "GIF"),
    }


def gifs_of_magick():
    animated = gifs()["animated"]
    return {
        "optimized": magick(animated, "-coalesce", "-layers", "OptimizeFrame", "gif:-"),
        "transparent_parts": magick(animated, "-coalesce", "-layers", "OptimizeTransparency", "gif:-"),
    }


def frame_boxes(gif):
    """Of each frame left, top, width, height, whether it is interlaced, and whether a colour of it is transparent."""
    at, transparent, boxes = 13 + (3 << (gif[10] & 7) + 1 if gif[10] & 0x80 else 0), False, []
    while gif[at] != 0x3B:
        if gif[at] == 0x2C:
            flags = gif[at + 9]
            boxes.append((*struct.unpack_from("<4H", gif, at + 1), bool(flags & 0x40), transparent))
            at += 11 + (3 << (flags & 7) + 1 if flags & 0x80 else 0)
            transparent = False
        else:
            transparent = transparent or gif[at + 1] == 0xF9 and bool(gif[at + 3] & 1)
            at += 2
        while gif[at]:
            at += 1 + gif[at]
        at += 1
    return boxes


def top_down(bmp):
    """The same picture with its rows from the top, as other programs write it: the height is negative then."""
    begin, width, height, bits = (struct.unpack_from(f, bmp, at)[0] for f, at in (("<I", 10), ("<i", 18), ("<i", 22), ("<H", 28)))
    line = (width * bits // 8 + 3) // 4 * 4
    rows = [bmp[begin + y * line : begin + (y + 1) * line] for y in range(height)]
    return bmp[:22] + struct.pack("<i", -height) + bmp[26:begin] + b"".join(reversed(rows))


def bmps():
    return {
        "rgb": saved(image(), "BMP"),
        "rgba": saved(rgba(), "BMP"),
        "grey": saved(image("L"), "BMP"),
        "top_down": top_down(saved(image(), "BMP")),
    }
