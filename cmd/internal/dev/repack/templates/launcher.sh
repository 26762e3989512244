#!/bin/sh
# npm links this script as the program. It becomes the program of this machine's package, so that
# no process stands between it and the terminal.
self=$(readlink -f "$0")
program=${self##*/}
case $(uname -m) in
x86_64 | amd64) cpu=x64 ;;
aarch64 | arm64) cpu=arm64 ;;
*) cpu=$(uname -m) ;;
esac
package=NAME-$(uname -s | tr '[:upper:]' '[:lower:]')-$cpu
top=${self%/bin/*}
for binary in "$top/node_modules/$package/bin/$program" "$top/../$package/bin/$program"; do
	[ ! -x "$binary" ] || exec "$binary" "$@"
done
echo "$program: the package $package is not installed: npm left it out" >&2
echo "$program: install NAME again, without --omit=optional" >&2
exit 127
