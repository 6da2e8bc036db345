#!/bin/bash
# Builds the installer for Windows on Linux with Wine, and uses what it installs:
#   sudo bash packaging/windows/on-linux.sh          everything, in .tools/windows (`make package-windows`)
#   STAGES="build trial" bash ...                    some stages; each leaves what is there already
# Needs root, debootstrap, mvn and unzip; 6 GB. Pictures and what was tried: out/windows.
#
# What Wine and the parts from Maven lack of Windows is made here and is in no installer: python3.dll
# (forwarders to python311.dll), icuuc.dll (Qt6Core's codecs; every function returns 0) and
# Microsoft's ucrtbase.dll (Wine's has no crealf, without which numpy aborts).
set -euo pipefail
REPO=$(cd "$(dirname "$0")/../.." && pwd)
WORK=$REPO/.tools/windows
CHROOT=$WORK/trixie
SHARED=$WORK/w
PYTHON=$SHARED/python
PICTURES=$REPO/out/windows
CPYTHON=3.11.3-1.5.9
JAVACPP=1.5.9
UCRT=903806c8888e3c9ac0212ed50be6889c21cf4fd12f49931da8b548b5326a0bf8
VERSION=$(sed -n 's/^__version__ = "\(.*\)"/\1/p' "$REPO/workbench/__init__.py")
INSTALLER=$REPO/dist/pongbench-$VERSION-windows-x86_64.exe
INSTALLED='C:\users\root\AppData\Local\Programs\Pongbench'
PORT=2299
STAGES=${STAGES:-debian python packages prefixes build installer trial}
mkdir -p "$SHARED" "$PICTURES" "$REPO/dist"
cd "$WORK"

pids=
finish() {
    [ -z "$pids" ] || kill $pids 2>/dev/null || true
    wait 2>/dev/null || true
    for place in work repo sys dev/shm dev proc; do
        if mountpoint -q "$CHROOT/$place"; then umount "$CHROOT/$place" || umount -l "$CHROOT/$place"; fi
    done
}
trap finish EXIT

mounted() { mountpoint -q "$CHROOT/$2" || mount --bind "$1" "$CHROOT/$2"; }

# Wine, also for 32 bits (NSIS's stub), a screen, makensis, tools for PE files, and an sshd.
debian() {
    [ -e "$CHROOT/.bootstrapped" ] || {
        debootstrap --variant=minbase trixie "$CHROOT" "${DEBIAN_MIRROR:-http://deb.debian.org/debian}"
        touch "$CHROOT/.bootstrapped"
    } >debootstrap.log
    cp /etc/resolv.conf "$CHROOT/etc/"
    mkdir -p "$CHROOT/work" "$CHROOT/repo"
    mounted /proc proc; mounted /dev dev; mounted /sys sys; mounted "$SHARED" work; mounted "$REPO" repo
    mountpoint -q "$CHROOT/dev/shm" || mount -t tmpfs tmpfs "$CHROOT/dev/shm"
    [ ! -e "$CHROOT/.packages" ] || return 0
    chroot "$CHROOT" dpkg --add-architecture i386
    chroot "$CHROOT" env DEBIAN_FRONTEND=noninteractive sh -c 'apt-get -q update && apt-get install -qy \
        --no-install-recommends wine wine64 wine32:i386 winbind xvfb xauth nsis binutils-mingw-w64-x86-64 \
        imagemagick x11-utils python3 openssh-server' >apt.log 2>&1
    touch "$CHROOT/.packages"
}

jar() {
    mvn -q -B dependency:get -Dtransitive=false -Dartifact="org.bytedeco:$1:$2:jar:windows-x86_64" >&2
    echo ~/.m2/repository/org/bytedeco/"$1"/"$2"/"$1"-"$2"-windows-x86_64.jar
}

# In the layout of python.org's installer.
python() {
    [ ! -e "$PYTHON/.whole" ] || return 0
    rm -rf "$PYTHON" jar
    mkdir -p "$PYTHON/DLLs"
    unzip -q "$(jar cpython $CPYTHON)" -d jar
    parts=jar/org/bytedeco/cpython/windows-x86_64
    cp $parts/python.exe $parts/python311.dll $parts/bin/pythonw.exe "$PYTHON/"
    cp -r $parts/lib "$PYTHON/Lib"
    mkdir -p "$PYTHON/Lib/site-packages"
    mv "$PYTHON"/Lib/*.pyd "$PYTHON"/Lib/*.dll "$PYTHON/DLLs/"
    mv "$PYTHON"/DLLs/vcruntime140*.dll "$PYTHON/"
    unzip -qjo "$(jar javacpp $JAVACPP)" org/bytedeco/javacpp/windows-x86_64/ucrtbase.dll -d "$SHARED"
    echo "$UCRT  $SHARED/ucrtbase.dll" | sha256sum -c --quiet
    cp "$SHARED/ucrtbase.dll" "$PYTHON/"
    cp $parts/libs/python3.lib "$SHARED/"
    [ -e tools ] || { python3 -m venv tools && tools/bin/pip -q install uv pefile; }
    chroot "$CHROOT" sh -c 'cd /work && x86_64-w64-mingw32-nm python3.lib 2>/dev/null' \
        | awk '$2=="T"||$2=="I"{print $3}' | sort -u >"$SHARED/names"
    tools/bin/python - "$PYTHON" "$SHARED" <<'PY'
import sys, pefile
python, shared = sys.argv[1:]
names = set(open(f"{shared}/names").read().split())
exported = pefile.PE(f"{python}/python311.dll").DIRECTORY_ENTRY_EXPORT.symbols
have = {symbol.name.decode() for symbol in exported if symbol.name}
data = {name[6:] for name in names if name.startswith("__imp_")}
with open(f"{shared}/python3.def", "w") as file:
    file.write("LIBRARY python3.dll\nEXPORTS\n")
    for name in sorted(data & have):
        file.write(f"  {name} = python311.{name}{'' if name in names else ' DATA'}\n")
PY
    chroot "$CHROOT" sh -c 'cd /work && x86_64-w64-mingw32-ld -shared --entry=0 -o python/python3.dll python3.def'
    touch "$PYTHON/.whole"
}

# The wheels that uv.lock pins, by its hashes, and this program's own metadata.
packages() {
    cp "$REPO/uv.lock" uv.lock
    site=$PYTHON/Lib/site-packages
    if ! cmp -s uv.lock "$PYTHON/.site"; then
        (cd "$REPO" && "$WORK/tools/bin/uv" export -q --frozen --no-dev --group package --no-emit-project \
            --format requirements-txt) >requirements.txt
        rm -rf "$site" "$PYTHON/Scripts"
        tools/bin/uv pip install -q --python-platform x86_64-pc-windows-msvc --python-version 3.11 \
            --only-binary :all: --require-hashes --no-deps -r requirements.txt --target "$site"
        mkdir -p "$PYTHON/Scripts"
        mv "$site"/bin/*.exe "$PYTHON/Scripts/"
        rm -rf "$site/bin"
        # As pip lists what it puts beside an environment.
        sed -i 's|^bin/\(.*\.exe\)|../../Scripts/\1|' "$site"/*.dist-info/RECORD
        cp uv.lock "$PYTHON/.site"
    fi
    rm -rf own "$site"/pongbench-*
    tools/bin/uv build -q --wheel --out-dir own "$REPO"
    unzip -qo own/pongbench-*.whl '*.dist-info/*' -d "$site"
    tools/bin/python - "$site/PySide6/Qt6Core.dll" "$SHARED" <<'PY'
import sys, pefile
library, shared = sys.argv[1:]
imports = pefile.PE(library).DIRECTORY_ENTRY_IMPORT
names = sorted(each.name.decode() for e in imports if e.dll == b"icuuc.dll" for each in e.imports)
body = "".join(f".globl {name}\n{name}:\n" for name in names)
open(f"{shared}/icu.s", "w").write(f".text\n{body}xorl %eax,%eax\nret\n")
open(f"{shared}/icuuc.def", "w").write("LIBRARY icuuc.dll\nEXPORTS\n" + "".join(f"  {n}\n" for n in names))
PY
    chroot "$CHROOT" sh -c 'cd /work && x86_64-w64-mingw32-as -o icu.o icu.s \
        && x86_64-w64-mingw32-ld -shared --entry=0 -o icuuc.dll icu.o icuuc.def'
}

# wine PREFIX SECONDS COMMAND...   Without winedbg, which waits for ever after a crash.
wine() {
    prefix=$1 seconds=$2; shift 2
    timeout -k 5 "$seconds" chroot "$CHROOT" env -i HOME=/root PATH=/usr/bin:/bin:/usr/sbin LANG=C.UTF-8 \
        WINEPREFIX="/root/$prefix" WINEDEBUG=-all DISPLAY=:77 WINEDLLOVERRIDES='mscoree,mshtml,winedbg.exe=;ucrtbase=n,b' \
        SSL_CERT_FILE='Z:\work\ca.pem' PONGBENCH_HOME='C:\pong' SOURCE_DATE_EPOCH="$(git -C "$REPO" log -1 --format=%ct)" "$@"
}

# One to build in, and one as a colleague's computer.
prefixes() {
    cp /etc/ssl/certs/ca-certificates.crt "$SHARED/ca.pem"
    for prefix in p1 p2; do
        [ -e "$CHROOT/root/$prefix/system.reg" ] || { wine $prefix 200 wineboot -i; wine $prefix 60 wineserver -w; }
        cp "$SHARED/icuuc.dll" "$CHROOT/root/$prefix/drive_c/windows/system32/"
    done
}

build() {
    rm -rf "$REPO/dist/pongbench"  # of a build for Linux, whose links Wine cannot remove
    wine p1 2400 env PYTHONPATH='Z:\repo' wine 'Z:\work\python\python.exe' 'Z:\repo\packaging\build.py'
}

installer() {
    chroot "$CHROOT" makensis -V2 -DVERSION="$VERSION" -DAPP=/repo/dist/pongbench -DICON=/repo/build/pongbench.ico \
        -DOUT="/repo/dist/$(basename "$INSTALLER")" /repo/packaging/windows/pongbench.nsi
    # Wine lacks this of Windows.
    rm -f "$REPO/dist/pongbench/ucrtbase.dll"
}

pong() { seconds=$1; shift; wine p2 "$seconds" wine "$INSTALLED\\app\\pongbench.exe" "$@" | tr -d '\r'; }

picture() { chroot "$CHROOT" env DISPLAY=:77 import -window root "/repo/out/windows/$1.png"; }

SYSTEM="Windows, with Wine 10"
tried() { echo "$1: $2 ($3 s)"; python3 "$REPO/packaging/tried.py" "$SYSTEM" "$1" "$2" "$3"; }
megabytes() { du -sB1 --apparent-size "$1" | awk '{printf "%.0f", $1 / 1e6}'; }
install() { wine p2 300 wine "Z:\\repo\\dist\\${1:-$(basename "$INSTALLER")}" /S; }

# What a colleague does: installs, tests, looks at a session, measures over SSH, reports, removes.
trial() {
    folder=$CHROOT/root/p2/drive_c/users/root/AppData/Local/Programs/Pongbench
    home=$CHROOT/root/p2/drive_c/pong
    rm -rf "$home" "$CHROOT/root/p2/drive_c/card" "$folder"
    find "$CHROOT/root/p2/drive_c" -type f | sort >before
    refusals

    begun=$SECONDS
    install
    took=$((SECONDS - begun))
    file=$(megabytes "$INSTALLER") folder_mb=$(megabytes "$folder")
    [ "$file" -le 60 ] && [ "$folder_mb" -le 170 ] || { echo "$file MB and $folder_mb MB are too much."; exit 1; }
    cp "$SHARED/ucrtbase.dll" "$folder/app/"
    pong 120 --version
    pong 300 --selftest | tee "$PICTURES/selftest.txt"
    tried "Installs silently and tests itself" "ok; $file MB, installed $folder_mb MB in $took s" $((SECONDS - begun))

    begun=$SECONDS
    demo="$INSTALLED\\app\\_internal\\resources\\sessions\\demo.pong.yaml"
    pong 120 summary "$demo" >"$PICTURES/summary.txt"
    grep -q "≥\|/s" "$PICTURES/summary.txt"
    wine p2 120 wine "$INSTALLED\\app\\pongbench.exe" >/dev/null 2>&1 & sleep 45; picture start; wait $! || true
    wine p2 150 wine "$INSTALLED\\app\\pongbench.exe" "$demo" >/dev/null 2>&1 & sleep 90; picture film; wait $! || true
    tried "Draws the window, replays the sample, prints a summary to a file" ok $((SECONDS - begun))

    serve
    card
    begun=$SECONDS
    mkdir -p "$home/config/profiles"
    printf '%s\n' 'name: box' 'connector: ssh' 'roles: [target, client]' 'address: 127.0.0.1' "port: $PORT" \
        'user: root' 'key: Z:\work\key' 'work_dir: /tmp/pongbench-box' >"$home/config/profiles/box.yaml"
    pong 120 machines trust box --fingerprint "$(ssh-keygen -lf "$SHARED/hostkey.pub" | cut -d' ' -f2)"
    pong 300 machines check box
    on="--target box --client box"
    pong 600 run quick $on --server asyncio-streams --server gevent -o 'C:\pong\pingpong.pong.yaml'
    printf '%s\n' 'name: HTTP' 'servers: [gevent-pywsgi, cheroot]' 'rates: [100, 300]' 'seconds: 2' \
        'workload: {protocol: http/1.1}' 'calibrate: false' >"$home/http.yaml"
    pong 600 run 'C:\pong\http.yaml' $on -o 'C:\pong\http.pong.yaml'
    pong 120 compare 'C:\pong\http.pong.yaml' 'C:\pong\http.pong.yaml' >"$PICTURES/compare.txt"
    tried "Sweeps ping-pong and HTTP over SSH from a terminal, compares the sessions" ok $((SECONDS - begun))
    begun=$SECONDS
    for kind in html png pdf csv; do
        pong 300 report 'C:\pong\pingpong.pong.yaml' -o "Z:\\repo\\out\\windows\\pingpong.$kind"
    done
    if grep -q $'\r' "$PICTURES/pingpong.html"; then echo "The HTML report has line ends of Windows."; exit 1; fi
    tried "Writes HTML, PNG, PDF and CSV" ok $((SECONDS - begun))

    begun=$SECONDS
    # An upgrade in place, then a library that a virus scanner removed.
    install
    cp "$SHARED/ucrtbase.dll" "$folder/app/"
    pong 120 --version
    rm "$folder"/app/_internal/msgspec/_core*.pyd
    pong 120 --version 2>&1 | tee "$PICTURES/missing.txt" || true  # it fails
    if ! grep -q "install Pongbench again" "$PICTURES/missing.txt" || grep -q Traceback "$PICTURES/missing.txt"
    then exit 1; fi
    wine p2 100 wine "$INSTALLED\\uninstall.exe" /S
    for _ in $(seq 60); do [ -e "$folder/app" ] || break; sleep 1; done
    wine p2 60 wineserver -w || true
    rm -f "$folder/app/ucrtbase.dll"
    find "$CHROOT/root/p2/drive_c" -type f | sort >after
    comm -13 before after | sed "s|$CHROOT/root/p2/drive_c||" | grep -v '^/\(pong\|card\)/' | tee "$PICTURES/left.txt"
    [ ! -e "$folder" ] || { echo "The folder is still there."; exit 1; }
    tried "Replaces itself, says that a library is gone, is removed" \
        "ok; left beside sessions and settings: $(paste -sd' ' "$PICTURES/left.txt")" $((SECONDS - begun))
}

# Nothing is installed by half.
refusals() {
    begun=$SECONDS
    head -c 20000000 "$INSTALLER" >"$REPO/dist/half.exe"
    install half.exe || true
    rm "$REPO/dist/half.exe"
    [ ! -e "$folder/app" ] || { echo "Half an installer installs."; exit 1; }
    mkdir -p "$folder"
    mount -t tmpfs -o size=100m tmpfs "$folder"
    install || true
    [ ! -e "$folder/app" ] || { umount "$folder"; echo "A full disk leaves half a program."; exit 1; }
    umount "$folder"
    rm -rf "$folder"
    tried "Installs nothing by half: a file cut in half, a full disk" ok $((SECONDS - begun))
}

# All of it in the window.
card() {
    wine p2 1500 env PONGBENCH_HOME='C:\card' wine "$INSTALLED\\app\\pongbench.exe" --python 'Z:\repo\packaging\card.py' \
        $PORT root 'Z:\work\key' 'Z:\repo\out\windows' | tr -d '\r' | tee "$PICTURES/card.txt"
    python3 "$REPO/packaging/tried.py" --card "$SYSTEM" "Adds a machine over SSH, trusts its key, deploys an own script \
there, sweeps it with the live plot, finds the YAML and replays it, all in the window" "$PICTURES/card.txt"
}

# A Linux machine on loopback: an sshd that knows one key.
serve() {
    cd "$SHARED"
    for name in key hostkey; do [ -e $name ] || ssh-keygen -q -t ed25519 -N '' -f $name; done
    cp key.pub "$CHROOT/root/authorized"
    chown -R root:root "$CHROOT/root/authorized"; chmod 600 "$CHROOT/root/authorized" key hostkey
    cp hostkey "$CHROOT/root/hostkey"; chmod 600 "$CHROOT/root/hostkey"
    mkdir -p "$CHROOT/run/sshd"
    chroot "$CHROOT" /usr/sbin/sshd -D -e -p $PORT -h /root/hostkey -o ListenAddress=127.0.0.1 -o StrictModes=no \
        -o AuthorizedKeysFile=/root/authorized -o PermitRootLogin=yes -o UsePAM=no >"$WORK/sshd.log" 2>&1 &
    pids="$pids $!"
    cd "$WORK"
}

debian
chroot "$CHROOT" Xvfb :77 -screen 0 1600x1000x24 -nolisten tcp >xvfb.log 2>&1 &
pids="$pids $!"
for stage in $STAGES; do
    [ "$stage" != debian ] || continue
    begun=$SECONDS
    $stage
    echo "== $stage: $((SECONDS - begun)) s"
done
