package main

import (
	"log"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/ext"
)

// A library of cel-go in each version from 0 to the newest.
type library struct {
	newest uint32
	option func(version uint32) cel.EnvOption
	// What the library needs, in the version without any.
	base []cel.EnvOption
}

var libraries = map[string]library{
	"bindings": {1, func(v uint32) cel.EnvOption { return ext.Bindings(ext.BindingsVersion(v)) }, nil},
	"encoders": {2, func(v uint32) cel.EnvOption { return ext.Encoders(ext.EncodersVersion(v)) }, []cel.EnvOption{cel.OptionalTypes()}},
	"lists":    {5, func(v uint32) cel.EnvOption { return ext.Lists(ext.ListsVersion(v)) }, nil},
	"math":     {3, func(v uint32) cel.EnvOption { return ext.Math(ext.MathVersion(v)) }, nil},
	"network":  {1, func(v uint32) cel.EnvOption { return ext.Network(ext.NetworkVersion(v)) }, nil},
	"optional": {4, func(v uint32) cel.EnvOption { return cel.OptionalTypes(cel.OptionalTypesVersion(v)) }, nil},
	"protos":   {1, func(v uint32) cel.EnvOption { return ext.Protos(ext.ProtosVersion(v)) }, nil},
	"regex":    {1, func(v uint32) cel.EnvOption { return ext.Regex(ext.RegexVersion(v)) }, []cel.EnvOption{cel.OptionalTypes()}},
	"sets":     {1, func(v uint32) cel.EnvOption { return ext.Sets(ext.SetsVersion(v)) }, nil},
	"strings":  {5, func(v uint32) cel.EnvOption { return ext.Strings(ext.StringsVersion(v)) }, nil},
	"two-var-comprehensions": {1, func(v uint32) cel.EnvOption {
		return ext.TwoVarComprehensions(ext.TwoVarComprehensionsVersion(v))
	}, nil},
}

// The functions of an environment by the identifiers of their overloads, and the macros by their keys.
func declared(options ...cel.EnvOption) map[string]string {
	env, err := cel.NewEnv(options...)
	if err != nil {
		log.Fatal(err)
	}
	found := map[string]string{}
	for name, function := range env.Functions() {
		for _, overload := range function.OverloadDecls() {
			found[overload.ID()] = name
		}
	}
	for _, macro := range env.Macros() {
		found["macro "+macro.MacroKey()] = macro.Function()
	}
	return found
}

// What is new in each version of each library.
func versions() map[string][]map[string]string {
	all := map[string][]map[string]string{}
	for name, of := range libraries {
		before := declared(of.base...)
		for version := uint32(0); version <= of.newest; version++ {
			now, added := declared(append(append([]cel.EnvOption{}, of.base...), of.option(version))...), map[string]string{}
			for id, function := range now {
				if _, known := before[id]; !known {
					added[id] = function
				}
			}
			all[name] = append(all[name], added)
			before = now
		}
	}
	return all
}
