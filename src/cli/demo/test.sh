#!/bin/sh
# Checks that the page is whole. Exit code 0 says that it is.
set -eu

fail() {
  echo "not ok: $1" >&2
  exit 1
}

grep -q '<title>Acme Widgets</title>' index.html || fail "the page has its title"
grep -q '</html>' index.html || fail "the page is whole"
opened=$(grep -c '{' style.css)
closed=$(grep -c '}' style.css)
[ "$opened" -eq "$closed" ] || fail "every rule of the style sheet is closed"
echo "ok: the page is whole"
