#!/bin/sh
# Installs Pongbench for one user, without root:  sh install.sh [--prefix=DIR] [--uninstall] [--quiet]
# Runs in the folder it was unpacked to; see packaging/linux/header.sh.
set -eu

ID=io.github.pongbench.Pongbench
DATA="${XDG_DATA_HOME:-$HOME/.local/share}"
HERE=$(cd "$(dirname "$0")" && pwd)
DEST="$HOME/.local/opt/pongbench"
ACTION=install
# An installed copy of this script removes the Pongbench beside it.
[ "${0##*/}" != uninstall ] || { DEST=$HERE; ACTION=uninstall; }
BIN=$DEST/bin
[ "$DEST" != "$HOME/.local/opt/pongbench" ] || BIN="$HOME/.local/bin"
QUIET=
SHELLS="bash-completion/completions/pongbench zsh/site-functions/_pongbench \
    fish/vendor_completions.d/pongbench.fish man/man1/pongbench.1.gz"

say() { [ -n "$QUIET" ] || printf '%s\n' "$*"; }
stop() { printf 'pongbench: %s\n' "$*" >&2; exit 1; }

for argument in "$@"; do
    case $argument in
        --prefix=/*) DEST=${argument#--prefix=}; BIN=$DEST/bin ;;
        --prefix=*) stop "--prefix needs an absolute path." ;;
        --uninstall) ACTION=uninstall ;;
        --quiet) QUIET=1 ;;
        --help) sed -n '2,3p' "$0"; exit 0 ;;
        *) stop "There is no option $argument; there are --prefix=DIR, --uninstall and --quiet." ;;
    esac
done

# Menus and file types are read anew at the next login anyway.
refresh() {
    ! command -v update-desktop-database >/dev/null || update-desktop-database -q "$DATA/applications" || true
    ! command -v update-mime-database >/dev/null || update-mime-database "$DATA/mime" >/dev/null 2>&1 || true
}

# What stands on the right side of an s||| of sed.
for_sed() { sed 's/[&|\\]/\\&/g'; }

# A program whose files are exchanged while it runs reads the one half from the old, the other from
# the new version.
check_idle() {
    [ -e "$DEST" ] || return 0
    app=$(readlink -f "$DEST")/app
    for process in /proc/[0-9]*/exe; do
        case $(readlink "$process" 2>/dev/null) in
            "$app"/*) stop "Pongbench is running from $DEST; close it and start this again. Nothing was changed." ;;
        esac
    done
}

uninstall() {
    [ -e "$DEST/app/pongbench" ] || stop "There is no Pongbench in $DEST."
    check_idle
    if [ "$(readlink "$BIN/pongbench" 2>/dev/null)" = "$DEST/app/pongbench" ]; then
        rm -f "$BIN/pongbench"
    fi
    plain=$(printf '%s' "$DEST/app/pongbench" | sed 's/\\/\\\\/g')
    if grep -qsxF "TryExec=$plain" "$DATA/applications/$ID.desktop"; then
        rm -f "$DATA/applications/$ID.desktop" "$DATA/mime/packages/$ID.xml" \
            "$DATA/icons/hicolor/scalable/apps/$ID.svg"
        for file in $SHELLS; do rm -f "$DATA/$file"; done
        refresh
    fi
    rm -rf "$DEST/app" "$DEST/app.old" "$DEST/app.new" "$DEST/uninstall"
    rmdir "$DEST/bin" "$DEST" 2>/dev/null || true
    say "Pongbench is removed. Your sessions, plans and settings stay:" \
        "$DATA/pongbench and ${XDG_CONFIG_HOME:-$HOME/.config}/pongbench."
}

# The libraries of the system that a window needs, and the Debian package of each.
missing() {
    known=$( (ldconfig -p || /sbin/ldconfig -p) 2>/dev/null || true)
    while read -r library package; do
        case $known in
            *"$library"*) ;;
            *) ls /usr/lib/*/"$library" /usr/lib64/"$library" /lib/*/"$library" >/dev/null 2>&1 \
                || printf '%s ' "$package" ;;
        esac
    done <"$HERE/libraries"
}

check_system() {
    [ "$(uname -s)-$(uname -m)" = Linux-x86_64 ] \
        || stop "This is the build for Linux on x86-64, and this computer is $(uname -s) on $(uname -m)."
    glibc=$(getconf GNU_LIBC_VERSION 2>/dev/null | sed 's/^glibc //') || glibc=
    least=$(cat "$HERE/glibc")
    oldest=$(printf '%s\n%s\n' "$least" "${glibc:-0}" | sort -V | head -n 1)
    [ "$oldest" = "$least" ] \
        || stop "Pongbench needs glibc $least or later, and this system has ${glibc:-another C library}."
    lacking=$(missing)
    if [ -n "$lacking" ]; then
        say "The window will need libraries this system lacks; as root: apt install $lacking"
        say "The command line works without them."
    fi
}

install() {
    check_system
    check_idle
    mkdir -p "$DEST" "$BIN" "$DATA/applications" "$DATA/mime/packages" \
        "$DATA/icons/hicolor/scalable/apps" \
        || stop "Nothing can be written to $DEST; give another place with --prefix=DIR."
    rm -rf "$DEST/app.new"
    cp -a "$HERE/pongbench" "$DEST/app.new" 2>/dev/null \
        || { rm -rf "$DEST/app.new"; stop "The disk is full; nothing was changed."; }
    QT_QPA_PLATFORM=offscreen "$DEST/app.new/pongbench" --version >/dev/null \
        || { rm -rf "$DEST/app.new"
             stop "Programs cannot be run from $DEST (is it mounted noexec?); nothing was changed."; }
    # Two renames: whoever starts the program meanwhile gets the old or the new one, whole.
    rm -rf "$DEST/app.old"
    [ ! -e "$DEST/app" ] || mv "$DEST/app" "$DEST/app.old"
    mv "$DEST/app.new" "$DEST/app"
    rm -rf "$DEST/app.old"
    ln -sfn "$DEST/app/pongbench" "$BIN/pongbench"
    cp "$HERE/install.sh" "$DEST/uninstall"
    # As the Desktop Entry Specification quotes a path: for the command line, then for the file.
    quoted=$(printf '%s' "$DEST/app/pongbench" | sed 's/[\\"`$]/\\&/g; s/\\/\\\\/g; s/%/%%/g' | for_sed)
    plain=$(printf '%s' "$DEST/app/pongbench" | sed 's/\\/\\\\/g' | for_sed)
    sed "s|^Exec=.*|Exec=\"$quoted\" %f|; s|^TryExec=.*|TryExec=$plain|" \
        "$HERE/$ID.desktop" >"$DATA/applications/$ID.desktop"
    cp "$HERE/$ID.mime.xml" "$DATA/mime/packages/$ID.xml"
    cp "$HERE/$ID.svg" "$DATA/icons/hicolor/scalable/apps/$ID.svg"
    for file in $SHELLS; do mkdir -p "$DATA/$(dirname "$file")" && cp "$HERE/share/$file" "$DATA/$file"; done
    refresh
    if [ -z "$lacking" ]; then
        "$DEST/app/pongbench" --selftest || say "Something does not work here; see above."
    fi
    say "Pongbench is in $DEST; start it from the menu, or as $BIN/pongbench."
    case ":$PATH:" in *":$BIN:"*) ;; *) say "($BIN is not in your PATH.)" ;; esac
    say "To remove it: sh \"$DEST/uninstall\""
}

$ACTION
