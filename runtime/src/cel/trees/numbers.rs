//! The numbers of fields, the names of operators and the names that expanded macros use: what export and import share.

/// Fields of `Expr`.
pub(super) mod expr {
    pub(in super::super) const ID: u32 = 2;
    pub(in super::super) const CONST: u32 = 3;
    pub(in super::super) const IDENT: u32 = 4;
    pub(in super::super) const SELECT: u32 = 5;
    pub(in super::super) const CALL: u32 = 6;
    pub(in super::super) const LIST: u32 = 7;
    pub(in super::super) const STRUCT: u32 = 8;
    pub(in super::super) const COMPREHENSION: u32 = 9;
}

/// Fields of `Expr.Comprehension`.
pub(super) mod comprehension {
    pub(in super::super) const ITER_VAR: u32 = 1;
    pub(in super::super) const ITER_VAR2: u32 = 8;
    pub(in super::super) const ITER_RANGE: u32 = 2;
    pub(in super::super) const ACCU_VAR: u32 = 3;
    pub(in super::super) const ACCU_INIT: u32 = 4;
    pub(in super::super) const LOOP_CONDITION: u32 = 5;
    pub(in super::super) const LOOP_STEP: u32 = 6;
    pub(in super::super) const RESULT: u32 = 7;
}

/// Fields of `Constant`.
pub(super) mod constant {
    pub(in super::super) const NULL: u32 = 1;
    pub(in super::super) const BOOL: u32 = 2;
    pub(in super::super) const INT: u32 = 3;
    pub(in super::super) const UINT: u32 = 4;
    pub(in super::super) const DOUBLE: u32 = 5;
    pub(in super::super) const STRING: u32 = 6;
    pub(in super::super) const BYTES: u32 = 7;
}

pub(super) const AND: &str = "_&&_";
pub(super) const OR: &str = "_||_";
pub(super) const CONDITIONAL: &str = "_?_:_";
pub(super) const INDEX: &str = "_[_]";
pub(super) const OPTIONAL_INDEX: &str = "_[?_]";
pub(super) const OPTIONAL_SELECT: &str = "_?._";
pub(super) const NOT: &str = "!_";
pub(super) const ADD: &str = "_+_";
pub(super) const EQUAL: &str = "_==_";
pub(super) const NOT_STRICTLY_FALSE: &str = "@not_strictly_false";
pub(super) const MAP_INSERT: &str = "cel.@mapInsert";
pub(super) const SORT_BY_KEYS: &str = "@sortByAssociatedKeys";
pub(super) const GREATEST: &str = "math.@max";
pub(super) const LEAST: &str = "math.@min";
pub(super) const HAS_VALUE: &str = "hasValue";
pub(super) const VALUE: &str = "value";
pub(super) const OPTIONAL_OF: &str = "optional.of";
pub(super) const OPTIONAL_NONE: &str = "optional.none";

/// The variable that accumulates the result of a comprehension.
pub(super) const ACCUMULATOR: &str = "@result";
/// The variable of a comprehension over nothing.
pub(super) const UNUSED: &str = "#unused";
/// The variable that holds the target of `optMap`.
pub(super) const TARGET: &str = "@target";
/// The variable that holds the list of `sortBy`.
pub(super) const SORT_BY_INPUT: &str = "@__sortBy_input__";

// Macros that have no equal in the standard comprehensions stay calls, of names that no function can have.
pub(super) const PRESENCE: &str = "@has";
pub(super) const DEFAULT: &str = "@default";
pub(super) const COALESCE: &str = "@coalesce";
pub(super) const MAP_VALUES: &str = "@mapValues";
pub(super) const FILTER_KEYS: &str = "@filterKeys";
