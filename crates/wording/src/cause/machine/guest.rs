use iotax_diagnose::why::guest::{Answerer, GuestWhy, NinePCache};
use iotax_quantity::size;

/// What a mount of 9p has for a message where it does not say: 8 KiB before Linux 5.15, 128 KiB since.
const UNSAID: &str = "at most its msize";

pub(in super::super) fn why(why: &GuestWhy, mount: &str) -> String {
    match why {
        GuestWhy::NineP { message_bytes, cache, mode } => {
            let carries =
                message_bytes.map_or(UNSAID.to_owned(), |bytes| format!("at most {}", size(bytes)));
            let keeps = match cache {
                NinePCache::Nothing => "Nothing is cached",
                NinePCache::ReadAhead => "Only what is read ahead is cached",
                NinePCache::OpenFiles => "Data are cached while a file is open, and no metadata",
                NinePCache::Everything => "Data and metadata are cached",
                NinePCache::OnDisk => "Data and metadata are cached, also on a local disk",
                NinePCache::Unknown => "What is cached is not known of this mode",
            };
            let mode = mode.as_ref().map_or_else(String::new, |mode| format!(" (cache={mode})"));
            format!(
                "Each operation on {mount} is a call to the host that the program waits for, and a \
                 call carries {carries}. {keeps}{mode}."
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
                    " With dax, data are mapped from the host's page cache; metadata are not."
                }
                Some(false) => {
                    " Without dax, data are copied. The host's cache mode does not show here."
                }
                None => "",
            };
            format!(
                "Each operation on {mount} that this machine has not cached goes to {by} on the \
                 host, and programs wait for it.{maps}"
            )
        }
    }
}
