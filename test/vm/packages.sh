# What the virtual machine is made of, sourced by `run`. Nothing is installed: packages that the machine lacks are downloaded with apt and
# unpacked below $cache. Sets qemu (an array: the command), busybox, kernel.

say() { echo "vm: $*" >&2; }
give_up() { say "$*"; exit 77; }  # 77: skipped

apt_get() { apt-get -qq -o Debug::NoLocking=1 -o APT::Sandbox::User=root -o Dir::Cache::archives="$cache/debs" "$@"; }

# unpack NAME PACKAGE...: the packages and, but for a leading '=', all that they need and this machine lacks, into $cache/NAME.
unpack() {
  local name=$1; shift
  [ -e "$cache/$name.done" ] && return 0
  command -v apt-get >/dev/null || give_up "needs $* and there is no apt-get to fetch them"
  say "fetching ${*#=} (once)"
  mkdir -p "$cache/debs/partial" "$cache/$name.new"
  rm -f "$cache"/debs/*.deb
  if [ "${1#=}" != "$1" ]; then
    (cd "$cache/debs" && apt_get download "${@#=}") || give_up "cannot download ${*#=}: see the message of apt-get above; \`apt-get update\` may help"
  else
    apt_get install --download-only --no-install-recommends -y "$@" >&2 ||
      give_up "cannot download $*: see the message of apt-get above; \`apt-get update\` may help"
  fi
  local deb
  for deb in "$cache"/debs/*.deb; do dpkg -x "$deb" "$cache/$name.new"; done
  rm -rf "$cache/debs" "${cache:?}/$name"
  mv "$cache/$name.new" "$cache/$name"
  touch "$cache/$name.done"
}

find_qemu() {
  if command -v qemu-system-x86_64 >/dev/null; then
    qemu=(qemu-system-x86_64)
    return
  fi
  unpack qemu qemu-system-x86
  local root=$cache/qemu libs
  libs=$(find "$root" -name '*.so*' -printf '%h\n' | sort -u | paste -sd:)
  qemu=(env "LD_LIBRARY_PATH=$libs" "$root/usr/bin/qemu-system-x86_64" -L "$root/usr/share/qemu" -L "$root/usr/share/seabios")
}

find_busybox() {
  local candidate
  for candidate in /bin/busybox /usr/bin/busybox; do
    if [ -x "$candidate" ] && ! ldd "$candidate" >/dev/null 2>&1; then
      busybox=$candidate
      return
    fi
  done
  unpack busybox =busybox-static
  busybox=$(find "$cache/busybox" -path '*bin/busybox' -type f | head -1)
}

find_kernel() {
  if [ ! -e "$cache/kernel.done" ]; then
    local image
    image=$(apt-cache depends linux-image-cloud-amd64 2>/dev/null | sed -n 's/.*Depends: \(linux-image-[0-9][^ ]*\)/\1/p' | head -1)
    [ -n "$image" ] || give_up "apt knows no linux-image-cloud-amd64; \`apt-get update\` may help"
    unpack kernel "=$image"
  fi
  kernel=$(find "$cache/kernel/boot" -name 'vmlinuz-*' | head -1)
}
