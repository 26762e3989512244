# The tests that call for a real client, by the helpers with which they do, as a pattern for go test -run.
/^func / { name = ""; if (/^func Test/) { name = $2; sub(/\(.*/, "", name) } next }
/[^A-Za-z](inspector|sdk|claude|clients|fromNpm|player|[Cc]hromium|onScreen)\(t|[^A-Za-z]openPage\(g|"Xvfb"|Getenv\("CLIENTS"\)/ && name != "" { found[name] }
END { for (name in found) { printf "%s%s", bar, name; bar = "|" } }
