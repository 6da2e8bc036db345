"""Hello World with Tornado: a handler, called by the loop."""

import argparse
import asyncio
import ssl

from tornado.web import Application, RequestHandler


class Pong(RequestHandler):
    def get(self):
        self.set_header("Content-Type", "text/plain")
        self.write("Pong!")


class Hello(RequestHandler):
    def get(self):
        self.set_header("Content-Type", "text/plain")
        self.write("Hello World\n")


async def main(host, port, backlog, certificate, key):
    app = Application([("/", Pong), ("/hello", Hello)], log_function=lambda handler: None)
    tls = None
    if certificate:  # Given the files instead, it would read them for every connection.
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(certificate, key)
    app.listen(port, host, backlog=backlog, ssl_options=tls)
    await asyncio.Event().wait()  # for ever


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--backlog", type=int, default=512)
    parser.add_argument("--certificate", default="", help="with --key: speak TLS")
    parser.add_argument("--key", default="")
    asyncio.run(main(**vars(parser.parse_args())))
