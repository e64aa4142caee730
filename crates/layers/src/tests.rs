use super::*;
use crate::declaration::Value;
use crate::units::Unit;

#[test]
fn declarations_are_consistent() {
    for info in Layer::catalog() {
        for parameter in info.parameters {
            let default = parameter.default.map(|text| Value::read(parameter.unit, text));
            assert!(default.is_none_or(|read| read.is_ok()), "{}", parameter.name);
        }
        let text = match info.takes {
            [] => info.example.to_owned(),
            [Form::Directory, ..] => format!("file + ext4 + {}", info.example),
            [form, ..] if form.is_network() => format!("netns + {}", info.example),
            _ => format!("file + {}", info.example),
        };
        let stack = Stack::parse(&text).unwrap();
        let layer = stack.layers.iter().rfind(|layer| layer.name() == info.name).unwrap();
        assert_eq!(layer.name(), info.name);
        assert_eq!(layer.info().name, info.name);
        let names: Vec<_> = layer.values().into_iter().map(|(name, _)| name).collect();
        let declared: Vec<_> = info.parameters.iter().map(|parameter| parameter.name).collect();
        assert_eq!(names, declared);
        assert_eq!(info.is_base(), info.takes.is_empty(), "{}", info.name);
        assert_eq!(info.is_base(), layer.base().is_some(), "{}", info.name);
        let given = layer.values().into_iter().zip(info.parameters);
        let paths = given.filter(|((_, value), it)| it.unit == Unit::Path && value.is_some());
        assert_eq!(layer.clone().paths_mut().len(), paths.count(), "{}", info.name);
        assert!(info.world != World::InProcess || info.needs.is_empty(), "{}", info.name);
    }
}

#[test]
fn a_record_keeps_a_layer_as_its_word_and_fields() {
    for info in Layer::catalog() {
        let layer = info.example_layer();
        let json = serde_json::to_string(&layer).unwrap();
        assert_eq!(serde_json::from_str::<Layer>(&json).unwrap(), layer, "{json}");
    }
    let fscrypt = serde_json::to_string(&Layer::Fscrypt(Fscrypt {})).unwrap();
    insta::assert_snapshot!(fscrypt, @r#"{"layer":"fscrypt"}"#);
    let luks = serde_json::to_string(&Layer::QemuLuks(QemuLuks { key_bits: 256 })).unwrap();
    insta::assert_snapshot!(luks, @r#"{"layer":"qemu_luks","key_bits":256}"#);
    let earlier = r#"{"layer":"luks","key_bits":256}"#;
    let earlier: Layer = serde_json::from_str(earlier).unwrap();
    assert_eq!(earlier.name(), "qemu-luks");
}

#[test]
fn any_number_of_connections_that_nfs_does_not_take_is_told_what_it_takes() {
    for connections in ["0", "17", "5000000000"] {
        let text = format!("nfs(server=filer, export=/data, nconnect={connections})");
        let error = Stack::parse(&text).unwrap_err().to_string();
        assert!(error.contains("the client supports 1 to 16 connections"), "{error}");
    }
}
