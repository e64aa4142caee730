# iotax's own mounts of the server that nfs.sh has set up; to be preceded by traces.sh and that.
# Prints the options that were in effect, what is refused, and what is on the server afterwards.
# Leaves
#   less.json     a run with less than it asked for
#   options       a comparison of arms with different options
#   kerberos.json one of no protection against encryption
#   undone        how many kills left something to undo
export=/srv/nfs/export
server='server=127.0.0.1, export=/export'
head -c 1M /dev/urandom >$export/precious
sum=$(sha256sum <$export/precious)
traces $export >/run/before

arms=("four=nfs($server, vers=4.1, nconnect=4)"
    "small=nfs($server, vers=4.2, sec=krb5p, rsize=32k)"
    "three=nfs(server=127.0.0.1, export=$export, vers=3, sec=krb5i)")
for sec in sys krb5 krb5i krb5p; do
    arms+=("$sec=nfs($server, vers=4.1, sec=$sec)")
done
"$IOTAX" compare -w randread-4k --set size=4M --set read_percent=50 --set verify=true \
    --time 2s --ramp 0s --max-blocks 1 --out options "${arms[@]}" >&2 &
while kill -0 $! 2>/dev/null; do
    grep /var/lib/iotax/run/ /proc/self/mountinfo || true
    sleep 0.1
done >mounts
wait $!
sed -E 's/.*(vers=[^,]*,rsize=[0-9]*).*proto=tcp(,nconnect=.)?.*(,sec=[^,]*).*/\1\2\3/' mounts |
    sort -u
nothing_left /run/before $export

echo "--- without protection, and encrypted"
"$IOTAX" compare -w randread-4k --set size=4M --time 1s --ramp 200ms --quick --max-blocks 4 \
    --format json --out kerberos "sys=nfs($server, sec=sys)" "krb5p=nfs($server, sec=krb5p)" \
    >kerberos.json
"$IOTAX" report kerberos >&2
nothing_left /run/before $export

echo "--- a mount that was there before"
mkdir /media/n
mount -t nfs4 -o vers=4.1,nconnect=2 127.0.0.1:/export /media/n
"$IOTAX" run randread-4k "nfs($server, vers=4.1)" --set size=4M 2>&1 || echo "[exit $?]"
umount /media/n
echo "--- less than was asked for"
# Long enough for two samples of the mount's counters, however late they are taken.
"$IOTAX" run randread-4k "nfs($server, vers=4.1, rsize=1M)" --set size=4M --time 2s --ramp 0s \
    --format json --out less >less.json
nothing_left /run/before $export

echo "--- killed while another arm is driven"
start "$IOTAX" compare -w randread-4k --set size=4M --time 2s --ramp 0s "nfs=nfs($server)" \
    'mem=mem(size=4M)' --out killed
is_mounted() { [[ $(</proc/mounts) == *\ /var/lib/iotax/run/* ]]; }
is_unmounted() { ! is_mounted; }
until_up $pid is_mounted
until_up $pid is_unmounted
undo_killed /run/before $export

echo "--- killed at any time"
kill_after_tenths "3 5 6 7 9" /run/before $export \
    run randread-4k "nfs($server, sec=krb5p)" --set size=4M --time 2s --ramp 0s
echo "$undone" >undone
ls -A $export
[ "$(sha256sum <$export/precious)" = "$sum" ] || fail "somebody's file was changed"
