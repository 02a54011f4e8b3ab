#!/bin/sh
# SPDX-License-Identifier: MIT
#
# `make deb`: makes a Debian package of the files of `make install`, for the release that it is built on; deb.sh
# FOLDER makes FOLDER/vramtrace_VERSION_ARCHITECTURE.deb, with BUILD and INSTALL (the install command) in the
# environment. Needs no root. As for Debian's own tools, CC determines the architecture, DEBFULLNAME and DEBEMAIL name
# the maintainer, and SOURCE_DATE_EPOCH sets all dates.
#
# It only uses dpkg-deb. debhelper would need a folder debian/ with a second list of installed files, and would call
# the same tools: dpkg-shlibdeps, strip, gzip, md5sum.
set -eu
umask 022
here=$(cd "$(dirname "$0")" && pwd)
folder=$(realpath -m "$1")
stage=$folder/stage
work=$folder/work
docs=$stage/usr/share/doc/vramtrace
command -v dpkg-shlibdeps >/dev/null || {
    echo "deb: dpkg-shlibdeps is not here (sudo apt-get install dpkg-dev)" >&2
    exit 1
}
architecture=$(dpkg-architecture -qDEB_HOST_ARCH)
strip=$(${CC:-gcc} -print-prog-name=strip)
libraries=/usr/lib/$(dpkg-architecture -qDEB_HOST_MULTIARCH)
version=$("$here/version")-1
date=${SOURCE_DATE_EPOCH:-$(git -C "$here" log -1 --format=%ct 2>/dev/null || stat -c %Y "$here/../NEWS.md")}
maintainer="${DEBFULLNAME:-the vramtrace authors} <${DEBEMAIL:-$(id -un)@$(hostname)}>"

rm -rf "$folder"
mkdir -p "$stage/DEBIAN" "$work/debian"

# --- the files ---
$INSTALL DESTDIR="$stage" PREFIX=/usr LIBDIR="$libraries" ZSHDIR=/usr/share/zsh/vendor-completions PYTHONDIR=/usr/lib/python3/dist-packages
find "$stage" -type f \( -name '*.so*' -o -path '*/bin/*' \) |
    xargs "$strip" --strip-unneeded --remove-section=.comment --remove-section=.note
find "$stage/usr/share/man" -type f -exec gzip -9n {} +
rm "$docs/LICENSE" # it is in copyright
cp "$here/debian/copyright" "$docs/"
gzip -9n <"$docs/NEWS.md" >"$docs/changelog.gz" && rm "$docs/NEWS.md"
printf 'vramtrace (%s) unstable; urgency=medium\n\n  * Version %s: see changelog.gz for what is new.\n\n -- %s  %s\n' \
    "$version" "${version%-*}" "$maintainer" "$(LC_ALL=C date -u -R -d "@$date")" | gzip -9n >"$docs/changelog.Debian.gz"
mkdir -p "$stage/usr/share/lintian/overrides"
cp "$here/debian/lintian-overrides" "$stage/usr/share/lintian/overrides/vramtrace"

# --- what it needs: what the files are linked with, and libunwind, which the library opens itself ---
printf 'Source: vramtrace\n\nPackage: vramtrace\nArchitecture: any\n' >"$work/debian/control"
(cd "$work" && find "$stage" -type f \( -name '*.so*' -o -path '*/bin/*' \) -exec dpkg-shlibdeps -Tdepends -S"$stage" {} +)
depends=$(sed -n 's/^shlibs:Depends=//p' "$work/depends")
[ -n "$depends" ]
cat >"$stage/DEBIAN/control" <<END
Package: vramtrace
Version: $version
Architecture: $architecture
Maintainer: $maintainer
Installed-Size: $(du -sk --apparent-size "$stage/usr" | cut -f 1)
Depends: $depends, libunwind8
Suggests: python3, python3-pytest
Section: devel
Priority: optional
$(cat "$here/debian/description")
END
echo 'activate-noawait ldconfig' >"$stage/DEBIAN/triggers"
# Like dh_python3; python3 may be absent, or installed later.
cat >"$stage/DEBIAN/postinst" <<'END'
#!/bin/sh
set -e
if command -v py3compile >/dev/null 2>&1; then py3compile -p vramtrace; fi
END
cat >"$stage/DEBIAN/prerm" <<'END'
#!/bin/sh
set -e
if command -v py3clean >/dev/null 2>&1; then py3clean -p vramtrace; fi
END
chmod 755 "$stage/DEBIAN/postinst" "$stage/DEBIAN/prerm"
(cd "$stage" && find usr -type f | LC_ALL=C sort | xargs -d '\n' md5sum) >"$stage/DEBIAN/md5sums"

find "$stage" -newermt "@$date" -print0 | xargs -0 -r touch --no-dereference -d "@$date"
SOURCE_DATE_EPOCH=$date dpkg-deb --root-owner-group -Zxz --build "$stage" "$folder/vramtrace_${version}_$architecture.deb" >/dev/null
rm -rf "$stage" "$work"
