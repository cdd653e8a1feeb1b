//! The codes of what is wrong with policies and environment files.

use celero::diagnostics::Stage;
use celero::language::CodeInfo;

macro_rules! codes {
    ($($name:ident $code:literal $summary:literal;)*) => {
        $(pub(crate) const $name: &str = $code;)*

        /// Every code that is no expression's.
        pub(crate) const CODES: &[CodeInfo] =
            &[$(CodeInfo { code: $code, stage: Stage::Check, summary: $summary },)*];
    };
}

codes! {
    FORM "cel-policy-form" "a key is unknown, missing or has a value of another form";
    IMPORT "cel-policy-import" "an import is no qualified name, or its last part stands for another name";
    VARIABLE "cel-policy-variable" "a variable has a name that expressions can't mention, or one that the rule has already";
    CONDITION "cel-policy-condition" "a condition is no `bool`, or is always false";
    OUTPUTS "cel-policy-outputs" "the outputs of a rule have different types";
    UNREACHABLE "cel-policy-unreachable" "a match without a condition hides the ones after it";
    NESTING "cel-policy-nesting" "an `aggregate` is inside of another";
    SIZE "cel-policy-size" "the policy as a whole exceeds the limits";
    ENVIRONMENT "cel-environment" "an environment file asks for what is not supported, or what the host does not have";
    TEST "cel-policy-test" "a test of a policy fails";
}
