//! The functions of a host as functions of an environment.

use super::Values;
use celero::filter::{Accepts, FilterFunction, FilterHost, FilterType, FilterValue, ResultType, StandardFunction};
use celero::{Bindings, Env};
use std::net::IpAddr;

/// Declares the functions of a host. A function without a result fails, which is a missing value in the language.
pub(super) fn with_functions(env: Env<Bindings<'static>>, host: &Values) -> Env<Bindings<'static>> {
    let functions = (0u32..).zip(host.scheme().functions());
    let of_host = functions.filter(|(_, function)| function.standard.is_none_or(StandardFunction::is_of_host));
    of_host.fold(env, |env, (index, function)| with_function(env, host, index, function))
}

fn with_function(
    env: Env<Bindings<'static>>,
    host: &Values,
    index: u32,
    function: &FilterFunction,
) -> Env<Bindings<'static>> {
    let (name, host) = (&*function.name, host.clone());
    let call = move |args: &[FilterValue]| {
        let args: Vec<Option<&FilterValue>> = args.iter().map(Some).collect();
        host.call(index, &args).ok_or("no result")
    };
    let parameters: Vec<&FilterType> = function
        .required
        .iter()
        .flat_map(|parameter| &parameter.accepts)
        .filter_map(|accepted| if let Accepts::Type(ty) = accepted { Some(ty) } else { None })
        .collect();
    let ResultType::Type(result) = &function.result else { return env };
    use FilterType::{Bool, Bytes, Int, Ip};
    match (parameters.as_slice(), result) {
        ([Bytes], Bytes) => env.pure_function(name, move |text: &[u8]| bytes(call(&[text.to_vec().into()])?)),
        ([Bytes], Bool) => env.pure_function(name, move |text: &[u8]| boolean(&call(&[text.to_vec().into()])?)),
        ([Bytes], FilterType::Array(_)) => {
            env.pure_function(name, move |text: &[u8]| texts(call(&[text.to_vec().into()])?))
        }
        ([Int], Int) => env.pure_function(name, move |number: i64| int(&call(&[number.into()])?)),
        ([Ip, Bool], Bool) => env.pure_function(name, move |address: IpAddr, wanted: bool| {
            boolean(&call(&[FilterValue::Ip(address), wanted.into()])?)
        }),
        ([Bytes, Int, Int], Int) => env.pure_function(name, move |text: &[u8], from: i64, count: i64| {
            int(&call(&[text.to_vec().into(), from.into(), count.into()])?)
        }),
        _ => env,
    }
}

const OTHER: &str = "a result of another type";

fn bytes(value: FilterValue) -> Result<Vec<u8>, &'static str> {
    if let FilterValue::Bytes(bytes) = value { Ok(bytes) } else { Err(OTHER) }
}

fn texts(value: FilterValue) -> Result<Vec<Vec<u8>>, &'static str> {
    let FilterValue::Array(values) = value else { return Err(OTHER) };
    values.into_iter().map(bytes).collect()
}

fn boolean(value: &FilterValue) -> Result<bool, &'static str> {
    if let FilterValue::Bool(value) = value { Ok(*value) } else { Err(OTHER) }
}

fn int(value: &FilterValue) -> Result<i64, &'static str> {
    if let FilterValue::Int(value) = value { Ok(*value) } else { Err(OTHER) }
}
