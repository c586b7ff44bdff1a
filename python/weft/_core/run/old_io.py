"""StringIO and cStringIO of Python 2: a file in memory, for which the first write chooses text or bytes."""
import io


class StringIO:
    def __init__(self, buf=""):
        self._file = io.BytesIO(buf) if isinstance(buf, (bytes, bytearray)) else io.StringIO(buf)

    def write(self, data):
        if isinstance(data, (bytes, bytearray, memoryview)) and isinstance(self._file, io.StringIO):
            at, old = self._file.tell(), self._file.getvalue()
            self._file = io.BytesIO(old.encode("latin1"))
            self._file.seek(at)
        elif isinstance(data, str) and isinstance(self._file, io.BytesIO):
            data = data.encode("latin1")
        return self._file.write(data)

    def writelines(self, lines):
        for line in lines:
            self.write(line)

    def reset(self):
        self._file.seek(0)

    def __iter__(self):
        return iter(self._file)

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self._file.close()

    def __getattr__(self, name):
        return getattr(self._file, name)
