//! Which types of variables are types of the filter language.

use celero_frontend::Type;
use celero_frontend::filter::FilterType;
use celero_ir::Ty;
use celero_ir::layout::Field as Layout;

/// The name of the type of addresses in the network library.
const ADDRESS: &str = "net.IP";

/// The type that a variable or expression has in the filter language; `None` if it has none there.
/// `layout` is that of a variable.
pub(super) fn filter_type(ty: &Type, layout: Option<&Layout>) -> Option<FilterType> {
    if let Some(layout) = layout {
        // Several lines of one name are several values.
        if layout.headers.is_some() {
            return Some(FilterType::map(FilterType::array(FilterType::Bytes)));
        }
        // CEL sees addresses as text.
        if layout.ty == Ty::Ip {
            return Some(FilterType::Ip);
        }
    }
    Some(match ty {
        Type::Bool => FilterType::Bool,
        Type::Int => FilterType::Int,
        Type::String | Type::Bytes => FilterType::Bytes,
        Type::Opaque(name, _) if &**name == ADDRESS => FilterType::Ip,
        Type::List(element) => FilterType::array(filter_type(element, None)?),
        Type::Map(parts) => {
            let (key, value) = &**parts;
            if *key != Type::String {
                return None;
            }
            FilterType::map(filter_type(value, None)?)
        }
        _ => return None,
    })
}
