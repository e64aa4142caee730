# What Kerberos costs on the server that nfs.sh has set up, and what keeps it from being used; to be
# preceded by traces.sh and that. Prints what is refused. Leaves
#   suite.json    security modes, numbers of connections, workloads and load levels, in one command
#   suite.txt     the same for people
#   doctor.json   a live mount with Kerberos and several connections
#   lost.json     a run whose contexts the server forgets
export=/srv/nfs/export
target=nfs.vm.test:/export
traces $export >/run/before
"$IOTAX" compare nfs-kerberos $target --matrix sec=sys,krb5p --matrix nconnect=1,4 \
    --matrix load=low,high --scale 0.002 --time 500ms --ramp 50ms --quick --max-blocks 1 \
    --format json --out suite >suite.json
"$IOTAX" report suite >suite.txt
nothing_left /run/before $export

mkdir /media/n
mount -t nfs4 -o vers=4.2,nconnect=4,sec=krb5 $target /media/n
"$IOTAX" doctor --no-metadata --format json /media/n >doctor.json
umount /media/n

lost='nfs(server=nfs.vm.test, export=/export, sec=krb5i, nconnect=2)'
(while sleep 0.3; do date +%s >/proc/net/rpc/auth.rpcsec.context/flush; done) &
forgets=$!
"$IOTAX" run randread-4k "$lost" --set size=4M --time 2s --ramp 100ms --format json --out lost \
    >lost.json
kill $forgets
nothing_left /run/before $export

# What is refused, and that nothing was made.
refused() { # WHAT TARGET
    echo "--- $1"
    "$IOTAX" run randread-4k "$2" --set size=4M --time 100ms 2>&1 || echo "[exit $?]"
    nothing_left /run/before $export
}
end() { # PROGRAM
    local comm
    for comm in $(grep -lx "$1" /proc/[0-9]*/comm); do kill "$(basename "${comm%/comm}")"; done
    while grep -qsx "$1" /proc/[0-9]*/comm; do sleep 0.1; done
}
krb5p="nfs(server=nfs.vm.test, export=/export, sec=krb5p)"
refused "TLS" "nfs(server=nfs.vm.test, export=/export, xprtsec=tls)"
refused "no principal of the server" "nfs(server=other.vm.test, export=/export, sec=krb5)"
refused "no name of the server" "nfs(server=127.0.0.2, export=/export, sec=krb5)"
cp /etc/krb5.keytab /run/good.keytab
rm /etc/krb5.keytab
refused "no keytab" "$krb5p"
kadmin.local -r VM.TEST addprinc -randkey HTTP/nfs.vm.test >/dev/null 2>&1
kadmin.local -r VM.TEST ktadd -k /etc/krb5.keytab HTTP/nfs.vm.test >/dev/null
refused "no principal of this machine" "$krb5p"
kadmin.local -r VM.TEST ktadd -k /etc/krb5.keytab -e aes256-cts-hmac-sha384-192:normal \
    host/nfs.vm.test >/dev/null
refused "keys that the kernel cannot use" "$krb5p"
cp /run/good.keytab /etc/krb5.keytab
kadmin.local -r VM.TEST cpw -randkey root/nfs.vm.test >/dev/null
refused "an old key" "$krb5p"
end krb5kdc
end rpc.gssd
refused "neither KDC nor rpc.gssd" "$krb5p"
