# shellcheck shell=bash
# A fully emulated machine with Debian's kernel, so that test results come from Linux and not from a translation layer:
# common part of scripts/aarch64, scripts/emulated-counters, scripts/emulated-observe and scripts/emulated-pmu.
#
# A script that sources this must be in the root of the checkout and have set:
#
#     arch            x86_64 or aarch64
#     work            folder below target/ for the packages and the machine
#     codename        Debian release of the machine
#     inside          packages in addition to the kernel
#     kept_modules    folders of kernel modules to include
#     cpus            number of CPUs
#     threads         emulator threads: multi (one per CPU) or single (CPUs take turns)
#     memory          memory size
#     max_seconds     time after which the machine is switched off

target=$arch-unknown-linux-gnu
root=$work/root
script=scripts/${0##*/}

# Sets what depends on the processor: Debian's name for it, the console, the emulator, and the required tools
# (command:package).
choose_processor() {
    needed=(cpio:cpio depmod:kmod)
    case $arch in
        x86_64)
            debian_arch=amd64 console=ttyS0
            emulator=(qemu-system-x86_64 -M q35 -cpu max)
            needed+=(qemu-system-x86_64:qemu-system-x86)
            ;;
        aarch64)
            debian_arch=arm64 console=ttyAMA0
            # A server CPU; the newest one that can be emulated is a third slower.
            emulator=(qemu-system-aarch64 -M virt -cpu neoverse-n1)
            needed+=(
                aarch64-linux-gnu-gcc:gcc-aarch64-linux-gnu
                aarch64-linux-gnu-g++:g++-aarch64-linux-gnu
                qemu-system-aarch64:qemu-system-arm
            )
            export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc
            ;;
    esac
}

install_missing() {
    local pair missing=()
    for pair in "${needed[@]}"; do
        command -v "${pair%%:*}" >/dev/null || missing+=("${pair#*:}")
    done
    [ ${#missing[@]} -gt 0 ] || return 0
    if [ "$(id -u)" != 0 ]; then
        echo "$script: needs ${missing[*]}; install them, or run as root" >&2
        exit 3
    fi
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

# Builds the requested tests and sets `tests` to their paths, relative to the checkout.
build() {
    echo "== building for $target"
    rustup target add "$target" 2>/dev/null
    # Without debug information the machine is a tenth as large; a panic still reports its line.
    CARGO_PROFILE_DEV_DEBUG=0 \
        cargo test --locked --target "$target" --no-run "$@" 2>&1 | tee "$work/built"
    mapfile -t tests < <(sed -n 's/^ *Executable .*(\(.*\))$/\1/p' "$work/built" | sort -t/ -k 6r)
}

# Runs apt-get for a separate system without installed packages, not for this machine.
target_apt() {
    APT_CONFIG=$work/apt/apt.conf "$@"
}

download_packages() {
    mkdir -p "$work"/apt/{lists,archives}/partial
    : >"$work/apt/status"
    echo "deb http://deb.debian.org/debian $codename main" >"$work/apt/sources.list"
    cat >"$work/apt/apt.conf" <<CONF
APT::Architecture "$debian_arch";
APT::Architectures { "$debian_arch"; };
APT::Install-Recommends "false";
APT::Sandbox::User "";
Acquire::Languages "none";
Dir::State "$work/apt";
Dir::State::status "$work/apt/status";
Dir::Cache "$work/apt";
Dir::Etc::sourcelist "$work/apt/sources.list";
Dir::Etc::sourceparts "/dev/null";
CONF
    target_apt apt-get update -qq
    target_apt apt-get install --download-only -y -qq "${inside[@]}" >/dev/null
    # Only the kernel package: its dependencies install it on a disk.
    local kernel
    kernel=$(target_apt apt-cache depends "linux-image-$debian_arch" | sed -n 's/.* Depends: //p')
    (cd "$work/apt/archives" && target_apt apt-get download -qq "$kernel")
    # Removes packages of earlier machines that are no longer available.
    target_apt apt-get autoclean -qq >/dev/null
}

# Unpacks the packages without running their scripts.
unpack() {
    local package folder
    rm -rf "$root"
    for folder in bin sbin lib lib64; do
        mkdir -p "$root/usr/$folder"
        ln -s "usr/$folder" "$root/$folder"
    done
    for package in "$work"/apt/archives/*.deb; do
        dpkg-deb --fsys-tarfile "$package" | tar -x --keep-directory-symlink -C "$root"
    done
    rm -rf "$root"/usr/share/{doc,man,locale,info}
    printf 'root:x:0:0::/root:/bin/bash\nnobody:x:65534:65534::/:/bin/false\n' >"$root/etc/passwd"
    printf 'root:x:0:\nnogroup:x:65534:\n' >"$root/etc/group"
    printf '127.0.0.1 localhost\n::1 localhost\n' >"$root/etc/hosts"
}

# Keeps the requested kernel modules; the kernel itself is not part of the machine's file system.
keep_few_modules() {
    local modules folder
    modules=$(echo "$root"/lib/modules/*)
    mv "$root"/boot/vmlinuz-* "$work/kernel"
    rm -rf "$work/modules"
    mv "$modules/kernel" "$work/modules"
    for folder in "${kept_modules[@]}"; do
        mkdir -p "$modules/kernel/${folder%/*}"
        mv "$work/modules/$folder" "$modules/kernel/$folder"
    done
    rm -rf "$work/modules" "$root/boot"
    depmod -b "$root" "$(basename "$modules")"
}

make_machine() {
    echo "== creating a machine with Debian's kernel"
    download_packages
    unpack
    keep_few_modules
}

# Copies this checkout and the given build products to the paths where tests compiled here look for them.
add_checkout() {
    local here=$root$PWD
    mkdir -p "$here" "$root"/{dev,proc,sys,run,tmp,root}
    git ls-files -z | cpio -0 -pdm --quiet "$here"
    cp --parents "$@" "$here/"
    : >"$root/tests"
    : >"$root/beforehand"
    export -p | grep -E ' (IPCPERF|RUST_TEST)_' >"$root/environment"
    install -m 755 scripts/emulated-init "$root/init"
}

# Adds a test to run: its crate, its path, its arguments.
add_test() {
    local arguments=""
    [ $# = 2 ] || arguments=$(printf '%q ' "${@:3}")
    echo "$PWD/crates/$1 $PWD/$2 $arguments" >>"$root/tests"
}

# Starts the machine; fails if a test failed or if the tests did not finish.
emulate() {
    (cd "$root" && find . -print0 | cpio -0 -o -H newc --owner root:root --quiet) >"$work/initrd"
    # The kernel's mitigations against attacks would double the time.
    timeout --foreground "$max_seconds" "${emulator[@]}" \
        -smp "$cpus" -m "$memory" -accel "tcg,thread=$threads" \
        -display none -monitor none -serial stdio -nic none -no-reboot \
        -kernel "$work/kernel" -initrd "$work/initrd" \
        -append "console=$console quiet mitigations=off init_on_alloc=0 panic=-1 rdinit=/init" </dev/null |
        sed -u 's/\r$//' | tee "$work/output" || true
    if ! grep -q '^scripts/emulated-init: failed=' "$work/output"; then
        echo "$script: the machine stopped before the tests ended" >&2
        exit 1
    fi
    echo "== results"
    grep -E '^(test result:|skipped:|test .* FAILED)' "$work/output" | sort -u
    grep -q '^scripts/emulated-init: failed=0$' "$work/output"
}

choose_processor
mkdir -p "$work"
