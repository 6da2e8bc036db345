"""Apache's httpd with the application embedded in its worker MPM, with 1,000 threads."""

import argparse
import os
from pathlib import Path
from string import Template

CONFIGURATION = Template("""\
ServerName localhost
ServerRoot $here
DefaultRuntimeDir $here
PidFile $here/httpd.pid
ErrorLog /dev/stderr
LogLevel error
Listen $host:$port
ListenBacklog $backlog
LoadModule mpm_worker_module $modules/mod_mpm_worker.so
LoadModule authz_core_module $modules/mod_authz_core.so
LoadModule wsgi_module $mod_wsgi
KeepAlive On
MaxKeepAliveRequests 0
KeepAliveTimeout 60
StartServers 1
ServerLimit 1
ThreadLimit 1000
ThreadsPerChild 1000
MaxRequestWorkers 1000
MinSpareThreads 1000
MaxSpareThreads 1000
WSGIApplicationGroup %{GLOBAL}
WSGIScriptAlias / $here/pong_wsgi.py
<Directory $here>
    Require all granted
</Directory>
""")

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--apache", default="/usr/sbin/apache2")
    parser.add_argument("--mod-wsgi", default="/usr/lib/apache2/modules/mod_wsgi.so")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--backlog", type=int, default=512)
    args = parser.parse_args()

    here = Path.cwd()
    values = {"here": here, "modules": Path(args.apache).parent.parent / "lib/apache2/modules"}
    (here / "httpd.conf").write_text(CONFIGURATION.substitute(values, **vars(args)))
    command = [args.apache, "-f", str(here / "httpd.conf"), "-DFOREGROUND"]
    os.execvp(command[0], command)
