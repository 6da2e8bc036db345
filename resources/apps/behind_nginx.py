"""nginx in front of an application server on a unix socket; both end with this program.

    python behind_nginx.py --nginx /usr/sbin/nginx --port 8000 -- gunicorn --bind unix:pong.sock ...

With PONGBENCH_CERTIFICATE and PONGBENCH_KEY in its environment, nginx terminates TLS, and offers
HTTP/2.
The server behind is started in the current folder and has to listen on `pong.sock` there.
"""

import argparse
import os
import resource
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from string import Template

# Relative to the folder: the kernel takes at most 107 bytes for a socket's path.
CONFIGURATION = Template("""\
daemon off;
worker_processes 1;
pid nginx.pid;
error_log stderr;
events { worker_connections $connections; }
http {
    access_log off;
    client_body_temp_path nginx-body;
    proxy_temp_path nginx-proxy;
    fastcgi_temp_path nginx-fastcgi;
    uwsgi_temp_path nginx-uwsgi;
    scgi_temp_path nginx-scgi;
    upstream behind {
        $hashing
        server unix:pong.sock;
        keepalive 16;
    }
    server {
        listen $host:$port$tls backlog=$backlog;
$sealed        keepalive_requests 1000000;
        location / {
$passing
        }
    }
}
""")
SEALED = """\
        ssl_certificate "{}";
        ssl_certificate_key "{}";
        ssl_protocols TLSv1.2 TLSv1.3;
        ssl_session_cache shared:pong:10m;
"""
PROXY = """\
            proxy_pass http://behind;
            proxy_http_version 1.1;
            proxy_set_header Connection "";
            proxy_set_header Host $host;"""
UWSGI = """\
            uwsgi_pass behind;
            uwsgi_param QUERY_STRING $query_string;
            uwsgi_param REQUEST_METHOD $request_method;
            uwsgi_param CONTENT_TYPE $content_type;
            uwsgi_param CONTENT_LENGTH $content_length;
            uwsgi_param REQUEST_URI $request_uri;
            uwsgi_param PATH_INFO $document_uri;
            uwsgi_param SERVER_PROTOCOL $server_protocol;
            uwsgi_param REMOTE_ADDR $remote_addr;
            uwsgi_param SERVER_PORT $server_port;
            uwsgi_param SERVER_NAME $server_name;"""


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nginx", default="nginx")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--backlog", type=int, default=512)
    parser.add_argument("--ip-hash", action="store_true", help="choose a server by address")
    parser.add_argument("--uwsgi", action="store_true", help="speak uWSGI's protocol to it")
    parser.add_argument("behind", nargs="+", help="the server behind, and its arguments")
    args = parser.parse_args()

    here = Path.cwd()
    configuration = here / "nginx.conf"
    certificate = os.environ.get("PONGBENCH_CERTIFICATE", "")
    passing = UWSGI if args.uwsgi else PROXY
    configuration.write_text(
        CONFIGURATION.substitute(
            host=args.host,
            port=args.port,
            backlog=args.backlog,
            # As many as the plan's descriptor limit allows.
            connections=resource.getrlimit(resource.RLIMIT_NOFILE)[0],
            passing=passing,
            hashing="ip_hash;" if args.ip_hash else "",
            tls=" ssl http2" if certificate else "",
            sealed=SEALED.format(certificate, os.environ["PONGBENCH_KEY"]) if certificate else "",
        )
    )
    behind = subprocess.Popen(args.behind)
    wait_for_socket("pong.sock", behind)
    front = subprocess.Popen([args.nginx, "-p", str(here), "-c", str(configuration)])
    both = [behind, front]

    def end(number, frame):
        for process in both:
            process.terminate()

    signal.signal(signal.SIGTERM, end)
    ended, status = os.wait()
    end(0, None)
    for process in both:
        if process.pid != ended:
            process.wait()
    sys.exit(os.waitstatus_to_exitcode(status) if os.WIFEXITED(status) else 1)


def wait_for_socket(path, server):
    while server.poll() is None:
        with socket.socket(socket.AF_UNIX) as trial:
            try:
                trial.connect(path)
            except OSError:
                time.sleep(0.02)
            else:
                return
    sys.exit("The server behind nginx ended before it listened.")


if __name__ == "__main__":
    main()
