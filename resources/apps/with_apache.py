"""Apache's httpd with mod_wsgi, configured for one application and nothing else.

How many processes and threads it has stands in a file of the server's own.
"""

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
LoadModule authz_core_module $modules/mod_authz_core.so
LoadModule wsgi_module $mod_wsgi
KeepAlive On
MaxKeepAliveRequests 0
KeepAliveTimeout 60
$own
WSGIApplicationGroup %{GLOBAL}
WSGIScriptAlias / $here/pong_wsgi.py
<Directory $here>
    Require all granted
</Directory>
""")

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("own", help="the file of its processes and threads")
    parser.add_argument("--apache", default="/usr/sbin/apache2")
    parser.add_argument("--mod-wsgi", default="/usr/lib/apache2/modules/mod_wsgi.so")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--backlog", type=int, default=512)
    args = parser.parse_args()

    here = Path.cwd()
    values = vars(args) | {"here": here}
    values["modules"] = Path(args.apache).parent.parent / "lib/apache2/modules"
    values["own"] = Template(Path(args.own).read_text()).substitute(values)
    (here / "httpd.conf").write_text(CONFIGURATION.substitute(values))
    command = [args.apache, "-f", str(here / "httpd.conf"), "-DFOREGROUND"]
    os.execvp(command[0], command)
