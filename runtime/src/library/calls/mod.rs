//! How calls reach the functions of the libraries: by the row of a builtin, by the types of values, by a helper.

mod dispatch_by_helper;
pub(crate) mod helper_functions;
mod invoke;
mod overloads;
mod rows;

pub(crate) use self::dispatch_by_helper::{Take, dispatch_by_helper};
pub(crate) use self::invoke::{Function, form_of, functions, invoke};
pub(crate) use self::overloads::{accepts, all_fit, guard, takes_any_index};
