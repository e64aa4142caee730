# A round trip with and without the kernel's netem, in turns, and datagrams at a rate that a guest
# keeps up with, each so many times. Leaves runs in rr.N, rr-2ms.N, udp.N, udp-loss.N, and what they said in
# NAME.json.
over() { "$IOTAX" run "$1" "$2" --ramp 200ms --time "$3" --out "$4" --format json "${@:5}" >"$4.json"; }
for number in $(seq "$times"); do
    over tcp-rr netns 500ms "rr.$number"
    over tcp-rr 'netns + netem(delay=2ms)' 1s "rr-2ms.$number"
    over udp-stream netns 5s "udp.$number" --set rate=1000
    over udp-stream 'netns + netem(loss=1%)' 5s "udp-loss.$number" --set rate=1000
done
