//! The macro that makes the functions of the table in `invoke.rs`, and the choice between them.

/// `Row(patterns of the arguments) how value;`, where `how` says what the value needs and is:
///
/// | `how` | it may use `cx` | it is a `Result` |
/// |---|---|---|
/// | `total` | no | no |
/// | `partial` | no | yes |
/// | `gives` | yes | no |
/// | `tries` | yes | yes |
///
/// What reads a list or a map runs code of the host, which may panic: it needs the evaluation, even
/// where it does not use `cx`.
macro_rules! rows {
    (@form total) => { CallForm::Total };
    (@form partial) => { CallForm::Partial };
    (@form $how:ident) => { CallForm::Framed };
    (@methods $cx:ident total $patterns:tt $body:expr) => { rows!(@leaf $patterns Ok(V::from($body))); };
    (@methods $cx:ident partial $patterns:tt $body:expr) => { rows!(@leaf $patterns $body.map(V::from)); };
    (@methods $cx:ident gives $patterns:tt $body:expr) => { rows!(@framed $cx $patterns Ok(V::from($body))); };
    (@methods $cx:ident tries $patterns:tt $body:expr) => { rows!(@framed $cx $patterns $body.map(V::from)); };
    (@leaf [$($pattern:pat),*] $body:expr) => {
        #[inline(always)]
        fn call<'a>(_: &Cx<'a>, args: &[V<'a>]) -> EvalResult<V<'a>> {
            Self::call_leaf(args)
        }

        #[inline(always)]
        fn call_leaf<'a>(args: &[V<'a>]) -> EvalResult<V<'a>> {
            match *args {
                [$($pattern),*] => $body,
                _ => Err(ErrorKind::NoSuchOverload),
            }
        }
    };
    (@framed $cx:ident [$($pattern:pat),*] $body:expr) => {
        #[inline(always)]
        fn call<'a>($cx: &Cx<'a>, args: &[V<'a>]) -> EvalResult<V<'a>> {
            // Not every row uses it.
            let _ = $cx;
            match *args {
                [$($pattern),*] => $body,
                _ => Err(ErrorKind::NoSuchOverload),
            }
        }
    };
    ($cx:ident: $($row:ident($($pattern:pat),*) $how:ident $body:expr;)*) => {
        /// The functions, under the names of their rows.
        pub(crate) mod functions {
            use super::*;

            $(
                pub(crate) struct $row;

                impl Function for $row {
                    const FORM: CallForm = rows!(@form $how);
                    rows!(@methods $cx $how [$($pattern),*] $body);
                }
            )*
        }

        /// Calls the function of a builtin.
        ///
        /// # Errors
        /// `no_such_overload` if the arguments are not of the builtin's types (an index of a list may be
        /// any number); otherwise those of the function.
        pub(crate) fn invoke<'a>(cx: &Cx<'a>, builtin: Builtin, args: &[V<'a>]) -> EvalResult<V<'a>> {
            match builtin {
                $(Builtin::$row => functions::$row::call(cx, args)),*
            }
        }

        /// What calls of a builtin with arguments of its types need, and how they can end.
        pub(crate) const fn form_of(builtin: Builtin) -> CallForm {
            match builtin {
                $(Builtin::$row => functions::$row::FORM),*
            }
        }
    };
}

pub(super) use rows;
