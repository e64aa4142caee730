//! Two network namespaces of this machine, joined by a pair of virtual Ethernet devices.

use iotax_layers::Netns;

use crate::layers::maker::prelude::*;
use crate::namespace::Namespace;
use crate::network::cpus;

impl NetworkBase for Netns {
    fn make(&self, context: &mut BuildContext<'_>) -> Result<Base, Error> {
        let cpus = cpus::of_ends(self.cpus, context);
        let link = Link::between(Namespace::new()?, Namespace::new()?, cpus);
        let Link { near, far, .. } = &link;
        let far_path = far.namespace.as_ref().expect("it was just made").path().display();
        let (here, there) = (&near.interface, &far.interface);
        let pair = format!("link add {here} type veth peer name {there} netns {far_path}");
        near.ip(&pair, context)?;
        for (end, _) in link.ends() {
            end.ip("link set dev lo up", context)?;
            end.bring_up(context)?;
        }
        context.note(
            "packets of up to 64 KiB cross the interface pair without being split, regardless \
                   of its MTU",
        );
        Base::with_peer(link, context)
    }
}
