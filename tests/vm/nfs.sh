# A Kerberos realm, a kernel NFS server and its export, all in the guest, over the loopback device.
# To be followed by the commands of a test; afterwards stand:
#   127.0.0.1 and nfs.vm.test:/export   exported for sec=sys, krb5, krb5i and krb5p, read-write;
#                                       with version 3 it is /srv/nfs/export
#   /srv/nfs/export                     that directory, on an ext4 on $DISK
#   a keytab                            from which the mount command gets its ticket
set -eu
server=nfs.vm.test
realm=VM.TEST
hostname $server
printf '127.0.0.1 %s localhost\n' $server >/etc/hosts
modprobe -a sunrpc auth_rpcgss rpcsec_gss_krb5 nfsd nfs nfsv4 cts hmac cbc

# --- the realm: MIT Kerberos with one encryption type that this kernel knows
cat >/etc/krb5.conf <<CONF
[libdefaults]
 default_realm = $realm
 dns_lookup_kdc = false
 dns_lookup_realm = false
 rdns = false
 dns_canonicalize_hostname = false
 permitted_enctypes = aes256-cts-hmac-sha1-96
[realms]
 $realm = {
  kdc = 127.0.0.1:88
 }
[domain_realm]
 .vm.test = $realm
CONF
mkdir -p /etc/krb5kdc /var/lib/krb5kdc
cat >/etc/krb5kdc/kdc.conf <<CONF
[realms]
 $realm = {
  database_name = /var/lib/krb5kdc/principal
  key_stash_file = /etc/krb5kdc/stash
  supported_enctypes = aes256-cts-hmac-sha1-96:normal
 }
CONF
head -c 32 /dev/urandom | base64 >/run/master
{ cat /run/master /run/master; } | kdb5_util create -s -r $realm >/dev/null
for principal in nfs/$server host/$server root/$server; do
    kadmin.local -r $realm addprinc -randkey $principal >/dev/null
    kadmin.local -r $realm ktadd -k /etc/krb5.keytab $principal >/dev/null
done
krb5kdc -r $realm

# --- the server
# The root of what version 4 exports must lie on a file system that can be exported, which the
# guest's overlay cannot: hence a root of its own (fsid=0) with `export` in it.
mkdir -p /srv/nfs /run/rpc_pipefs /var/lib/nfs/v4recovery
mkfs.ext4 -q -F "$DISK"
mount "$DISK" /srv/nfs
mkdir /srv/nfs/export
# Root's machine credential maps to nobody: the export must be writable for everybody.
chmod 1777 /srv/nfs/export
mount -t rpc_pipefs sunrpc /run/rpc_pipefs
mount -t nfsd nfsd /proc/fs/nfsd
rpc.svcgssd -n
rpc.gssd -k /etc/krb5.keytab
options=rw,async,no_subtree_check,insecure,no_root_squash,sec=sys:krb5:krb5i:krb5p
echo "/srv/nfs *(fsid=0,$options)" >/etc/exports
exportfs -ra
rpcbind
rpc.mountd -N 2
rpc.nfsd -L 10 -G 10 4
# There are no clients from before to wait for.
echo Y >/proc/fs/nfsd/v4_end_grace
