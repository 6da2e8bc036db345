#!/bin/sh
# Pongbench VERSION for Linux on x86-64. Run it:  sh pongbench-VERSION.run [--prefix=DIR]
# It unpacks itself beside where it goes and installs for this user, without root.
set -eu
for tool in tar gzip; do
    command -v $tool >/dev/null || { echo "pongbench: There is no $tool; install it first." >&2; exit 1; }
done
for folder in "${TMPDIR:-}" "$HOME/.cache" /var/tmp /tmp; do
    work=
    if [ -n "$folder" ] && mkdir -p "$folder" 2>/dev/null; then
        work=$(mktemp -d "$folder/pongbench.XXXXXX" 2>/dev/null) && break
    fi
done
[ -n "$work" ] || { echo "pongbench: There is no folder to unpack to; set TMPDIR to one." >&2; exit 1; }
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
# What comes last must be there, too: tar does not mind an end between two files.
if ! tail -n +LINES "$0" | gzip -dc 2>/dev/null | tar -xf - -C "$work" 2>/dev/null || [ ! -s "$work/glibc" ]; then
    echo "pongbench: The file is damaged, or there is no room in $work; nothing was changed." >&2
    exit 1
fi
sh "$work/install.sh" "$@"
exit 0
