//! What a host needs to describe its own types to rules: layouts of fields, and the declarations of an environment.
//!
//! The derives of [`Context`](derive@crate::Context) and [`FieldType`](derive@crate::FieldType)
//! cover most hosts, without `unsafe`: the attribute `with = function` makes any type a field. This
//! module is for types that native code is to read in place and that the derive can't describe, and
//! for contexts whose fields are not members of a struct.
//!
//! # A field type
//!
//! A type that wraps another one has its layout, if it is `repr(transparent)`.
//! (`#[derive(FieldType)]` writes the same.)
//!
//! ```
//! use celero::layout::{Access, Field as Layout, Path, Repr, Ty};
//! use celero::values::{Arena, EvalResult};
//! use celero::{Context, Engine, Env, FieldType, Type, Value};
//!
//! #[repr(transparent)]
//! struct Tenant(String);
//!
//! // SAFETY: a `Tenant` has the layout of its `String`, and `value` gives the text of that.
//! unsafe impl FieldType for Tenant {
//!     fn ty() -> Type {
//!         Type::String
//!     }
//!
//!     fn layout() -> Layout {
//!         String::layout()
//!     }
//!
//!     fn value<'s>(&'s self, arena: &'s Arena) -> EvalResult<Option<Value<'s>>> {
//!         self.0.value(arena)
//!     }
//! }
//!
//! /// A port of 1 to 65535.
//! #[repr(transparent)]
//! struct Port(u16);
//!
//! // SAFETY: the two bytes at the address of a `Port` are its number, which `value` gives.
//! unsafe impl FieldType for Port {
//!     fn ty() -> Type {
//!         Type::Uint
//!     }
//!
//!     fn layout() -> Layout {
//!         Layout::new(Ty::Uint, false, Access::Load(Path(vec![0]), Repr::U16))
//!     }
//!
//!     fn value<'s>(&'s self, _: &'s Arena) -> EvalResult<Option<Value<'s>>> {
//!         Ok(Some(Value::Uint(self.0.into())))
//!     }
//! }
//!
//! #[derive(Context)]
//! struct Call {
//!     tenant: Tenant,
//!     port: Port,
//! }
//!
//! let rule = Engine::new().compile(&Env::<Call>::new(), "tenant == 'acme' && port == 443u")?;
//! assert!(rule.test(&Call { tenant: Tenant("acme".into()), port: Port(443) })?);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # A context
//!
//! [`Access::Get`] reads a field by calling [`Host::field`](crate::host::Host::field). It needs no
//! layout, and is right for every type:
//!
//! ```
//! use celero::layout::{Access, Field as Layout, Ty};
//! use celero::host::{Field, Host};
//! use celero::values::{Arena, EvalResult};
//! use celero::{Context, Engine, Env, Type, Value};
//!
//! struct Plugin {
//!     name: fn() -> &'static str,
//! }
//!
//! impl Host for Plugin {
//!     fn field<'s>(&'s self, index: u32, _: &'s Arena) -> EvalResult<Option<Value<'s>>> {
//!         match index {
//!             0 => Ok(Some(Value::String((self.name)()))),
//!             _ => Ok(None),
//!         }
//!     }
//! }
//!
//! // SAFETY: the only field is read through `Host::field`.
//! unsafe impl Context for Plugin {
//!     type Static = Self;
//!
//!     fn fields() -> Vec<Field> {
//!         let layout = Layout::new(Ty::Value, false, Access::Get);
//!         vec![Field { name: "plugin.name".to_owned(), ty: Type::String, layout }]
//!     }
//! }
//!
//! let rule = Engine::new().compile(&Env::<Plugin>::new(), "plugin.name.startsWith('cache')")?;
//! assert!(rule.test(&Plugin { name: || "cache-v2" })?);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub use celero_frontend::{Declarations, Variable};
pub use celero_ir::layout::{
    AbsentIf, Access, Cursor, Elements, Entries, EntryValue, EnumTags, Field, Item, Path, Place, Repr,
};
pub use celero_ir::{Domain, Never, NeverPart, TextDomain, Ty};
