"""TFRecords of images, written here from the format's description: what the library reads is not what it wrote."""
import gzip
import pathlib
import struct

TABLE = []  # of CRC32C
for row in range(256):
    for _ in range(8):
        row = (row >> 1) ^ (0x82F63B78 if row & 1 else 0)
    TABLE.append(row)


def masked_checksum(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = TABLE[(crc ^ byte) & 255] ^ (crc >> 8)
    crc ^= 0xFFFFFFFF
    return struct.pack("<I", (((crc >> 15) | (crc << 17)) + 0xA282EAD8) & 0xFFFFFFFF)


def varint(n):
    return bytes([n]) if n < 128 else bytes([n & 127 | 128]) + varint(n >> 7)


def field(number, data):
    return bytes([number << 3 | 2]) + varint(len(data)) + data


def example(image, label):
    features = {b"pixels": field(3, field(1, varint(len(image)))), b"label": field(3, field(1, varint(label))),
                b"image_raw": field(1, field(1, image))}
    return field(1, b"".join(field(1, field(1, name) + field(2, value)) for name, value in features.items()))


def idx(folder, name, header):
    path = pathlib.Path(folder) / name
    data = path.read_bytes() if path.exists() else gzip.open(f"{path}.gz").read()
    return data[header:]


def write(path, folder, count):
    """The first images of the training set."""
    images, labels = idx(folder, "train-images-idx3-ubyte", 16), idx(folder, "train-labels-idx1-ubyte", 8)
    with open(path, "wb") as out:
        for i in range(count):
            record = example(images[784 * i:784 * (i + 1)], labels[i])
            size = struct.pack("<Q", len(record))
            out.write(size + masked_checksum(size) + record + masked_checksum(record))
