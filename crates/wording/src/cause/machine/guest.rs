use iotax_diagnose::why::guest::{Answerer, GuestWhy, NinePCache};
use iotax_quantity::size;

/// Size of a 9p message if the mount does not show it: 8 KiB before Linux 5.15, 128 KiB since.
const UNSAID: &str = "at most the mount's msize";

pub(in super::super) fn why(why: &GuestWhy, mount: &str) -> String {
    match why {
        GuestWhy::NineP { message_bytes, cache, mode } => {
            let carries =
                message_bytes.map_or(UNSAID.to_owned(), |bytes| format!("at most {}", size(bytes)));
            let keeps = match cache {
                NinePCache::Nothing => "Nothing is cached",
                NinePCache::ReadAhead => "Only read-ahead data is cached",
                NinePCache::OpenFiles => {
                    "Data is cached while a file is open; metadata is not cached"
                }
                NinePCache::Everything => "Data and metadata are cached",
                NinePCache::OnDisk => "Data and metadata are cached, including on a local disk",
                NinePCache::Unknown => "iotax does not know what this mode caches",
            };
            let mode = mode.as_ref().map_or_else(String::new, |mode| format!(" (cache={mode})"));
            format!(
                "Each operation on {mount} is a call to the host, and the program waits for the \
                 reply. A call carries {carries}. {keeps}{mode}."
            )
        }
        GuestWhy::Shared { by, maps } => {
            let by = match by {
                Answerer::Virtiofsd => "virtiofsd",
                Answerer::VirtualBox => "VirtualBox",
                Answerer::VmWare => "VMware",
                Answerer::Parallels => "Parallels",
                Answerer::DockerDesktop => "Docker Desktop",
            };
            let maps = match maps {
                Some(true) => {
                    " With dax, data is mapped from the host's page cache; metadata is not."
                }
                Some(false) => {
                    " Without dax, data is copied. This machine cannot see the host's cache mode."
                }
                None => "",
            };
            format!(
                "Each operation on {mount} that misses this machine's cache goes to {by} on the \
                 host, and the program waits for the reply.{maps}"
            )
        }
    }
}
