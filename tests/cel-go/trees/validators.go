package main

import (
	"log"

	"cel.dev/cel-go/cel"
)

// The names of the validators that refuse a source; nil where one panics, as on an optional element that is dyn.
func refusing(env *cel.Env, source string) (names []string) {
	defer func() {
		if recover() != nil {
			names = nil
		}
	}()
	names = []string{}
	for _, validator := range []cel.ASTValidator{
		cel.ValidateDurationLiterals(), cel.ValidateTimestampLiterals(), cel.ValidateHomogeneousAggregateLiterals(),
		cel.ValidateComprehensionNestingLimit(1), cel.ValidateBindNestingLimit(1),
	} {
		strict, err := env.Extend(cel.ASTValidators(validator))
		if err != nil {
			log.Fatal(err)
		}
		if _, issues := strict.Compile(source); issues.Err() != nil {
			names = append(names, validator.Name())
		}
	}
	return names
}
