"""Requests, and a client that sends them over HTTP/1."""

import re
import socket
import ssl
from typing import NamedTuple


class Request(NamedTuple):
    method: str
    path: str
    body: bytes = b""
    headers: tuple = ()
    # Bytes of the body that are announced and never sent.
    withheld: int = 0

    def http1(self):
        head = [f"{self.method} {self.path} HTTP/1.1", "Host: localhost", *self.headers]
        if self.body or self.method == "POST":
            head.append(f"Content-Length: {len(self.body) + self.withheld}")
        return "\r\n".join(head).encode() + b"\r\n\r\n" + self.body


def connected(address, source, protocol, tls):
    """A socket, bound to the source if there is one."""
    family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
    connection = socket.socket(family, socket.SOCK_STREAM)
    connection.settimeout(20)
    if source:
        connection.bind((source, 0))
    connection.connect(address)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    if tls:
        context = ssl._create_unverified_context()
        context.set_alpn_protocols([protocol])
        connection = context.wrap_socket(connection, server_hostname="localhost")
    return connection


class Connection:
    """One connection over HTTP/1. `ask` returns the status and the length of the body."""

    def __init__(self, address, source=None, tls=False):
        self.socket = connected(address, source, "http/1.1", tls)
        self.held = b""
        self.head = b""
        self.body = b""

    def ask(self, request):
        self.socket.sendall(request.http1())
        while b"\r\n\r\n" not in self.held:
            self.more()
        self.head, _, self.held = self.held.partition(b"\r\n\r\n")
        length = re.search(rb"content-length: (\d+)", self.head.lower())
        if b"transfer-encoding: chunked" in self.head.lower():
            self.body = self.chunks()
        else:
            self.body = self.take(int(length.group(1)) if length else 0)
        return int(self.head.split(b" ", 2)[1]), len(self.body)

    def chunks(self):
        body = b""
        while True:
            while b"\r\n" not in self.held:
                self.more()
            length, _, self.held = self.held.partition(b"\r\n")
            chunk = self.take(int(length, 16) + 2)
            if len(chunk) == 2:
                return body
            body += chunk[:-2]

    def take(self, length):
        while len(self.held) < length:
            self.more()
        taken, self.held = self.held[:length], self.held[length:]
        return taken

    def more(self):
        read = self.socket.recv(65536)
        if not read:
            raise ConnectionError("the server ended the connection")
        self.held += read
