#!/bin/sh
# Puts dist/Pongbench.app into a disk image:  sh packaging/macos/dmg.sh
# Unsigned: whoever opens it the first time does so by Ctrl-click, Open. With a certificate:
#   codesign --deep --force --options runtime --sign "Developer ID Application: ..." dist/Pongbench.app
set -eu
version=$(sed -n 's/^__version__ = "\(.*\)"/\1/p' workbench/__init__.py)
staging=$(mktemp -d)
trap 'rm -rf "$staging"' EXIT
cp -R dist/Pongbench.app dist/pongbench/LICENCES.txt "$staging/"
ln -s /Applications "$staging/Applications"
hdiutil create -volname "Pongbench $version" -srcfolder "$staging" -ov -format UDZO \
    "dist/pongbench-$version-macos-$(uname -m).dmg"
