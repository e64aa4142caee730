# Layers of network paths that few kernels have. To be preceded by traces.sh. Prints what the far end
# of a path with all of them looks like while load is driven over it, keys left out, and what undo
# removes after a kill. Leaves
#   few, all, ktls    runs that came to their end
mkdir /run/work /run/calls /run/input /run/wrapped
here=$PWD
cd /run/work

# Keeps what each call of ip gets: arguments, environment, standard input.
ip=$(command -v ip)
cat >/run/wrapped/ip <<WRAPPER
#!/bin/bash
cat /proc/\$\$/cmdline /proc/\$\$/environ >/run/calls/\$\$
[ "\$1" = -batch ] || exec "$ip" "\$@"
cat >/run/input/\$\$
exec "$ip" "\$@" </run/input/\$\$
WRAPPER
chmod +x /run/wrapped/ip

traces /mnt >/run/before
few='netns + ipsec(cipher=aes-128-cbc-sha256) + netem(delay=2ms, jitter=1ms, rate=100Mbit) + vxlan
    + ipsec(cipher=chacha20-poly1305)'
all='netns + netem(delay=2ms, loss=1%) + tbf(rate=1Gbit) + macsec + ipsec + geneve
    + ipsec(cipher=aes-256-gcm)'
over() { "$IOTAX" run tcp-rr "$@" --ramp 0s >&2; }
# A fixed number of exchanges: each one lost costs a retransmission timeout of 200 ms or more.
over "$few" --time 60s --set io-size=1280 --out "$here/few"
over "$all" --time 60s --set io-size=1280 --out "$here/all"
# The kernel's count of connections that it encrypted and decrypted: TLS at both ends of each load.
for cipher in aes-128-gcm aes-256-gcm chacha20-poly1305; do
    "$IOTAX" run tcp-stream "loopback + ktls(cipher=$cipher)" --ramp 0s --time 60s \
        --set io-size=16M >&2
done
over 'netns + ktls' --time 60s --set io-size=1280 --out "$here/ktls"
nothing_left /run/before /mnt
tls() { awk "\$1 == \"$1\" { print \$2 }" /proc/net/tls_stat; }
[ "$(tls TlsTxSw)" -ge 6 ] && [ "$(tls TlsRxSw)" -ge 6 ] && [ "$(tls TlsDecryptError)" = 0 ] ||
    fail "the kernel did no TLS: $(cat /proc/net/tls_stat)"

PATH=/run/wrapped:$PATH start "$IOTAX" run tcp-rr "$all" --time 600s --out killed
# Every direction of every ESP has passed something.
is_under_way() {
    peer=$(grep -lsz '^peer$' /proc/[0-9]*/cmdline | head -1) && peer=${peer%/cmdline} &&
        at_far_end "$ip" -s xfrm state >/run/states && [ "$(grep -c ^src /run/states)" = 4 ] &&
        ! grep -q ' 0(packets)' /run/states
}
at_far_end() { nsenter --net="$peer/ns/net" "$@"; }
until_up "$pid" is_under_way
at_far_end "$ip" -oneline address show | sed -nE 's/^[0-9]+: ([a-z0-9]+) +inet ([0-9./]+) .*/\1 \2/p'
at_far_end tc qdisc show dev eth0 | sed -E 's/ *$//'
at_far_end "$ip" macsec show | grep -o 'cipher suite.*'
at_far_end "$ip" xfrm state | sed -nE 's/0x[0-9a-f]{20,}/KEY/; /^src|^\t(proto|aead)/p'
cat /proc/[0-9]*/cmdline /proc/[0-9]*/environ /var/lib/iotax/undo/* >/run/seen 2>/dev/null || true
# The peer ends by itself when its starter does, or by undo, whichever comes first.
undo_killed /run/before /mnt | sed -E '/^removed the process/d; s/^[0-9]+ things? removed, //'

# --- the keys
grep -Eoh '0x[0-9a-f]{40,}|key 0[12] [0-9a-f]{32}' /run/input/* | sed -E 's/^(0x|key 0. )//' |
    sort -u >/run/keys
echo "ip was given $(wc -l </run/keys) keys"
grep -qFf /run/keys /run/input/* || fail "a key is not found where it is"
grep -aqFf /run/keys /run/calls/* && fail "a key is among the arguments"
grep -aqFf /run/keys /run/seen && fail "a key is in a process list or the journal"
grep -aqrFf /run/keys killed "$here/stderr" && fail "a key is in the results"
exit 0
