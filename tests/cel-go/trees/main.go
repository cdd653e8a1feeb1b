// Judges trees of expressions as cel-go does.
//
// Reads one JSON object a line from standard input: an expression, its variables with sets of values, and celero's trees of it; or a question for all
// functions; or types of messages for all questions that follow. Answers with one JSON object a line: cel-go's trees of the expression, how celero's
// differ from them, and what evaluating each gives.
package main

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"sort"
	"strconv"
	"strings"
	"time"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"
	"cel.dev/cel-go/ext"
	exprpb "cel.dev/expr"
	alpha "google.golang.org/genproto/googleapis/api/expr/v1alpha1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"
)

type question struct {
	// Asks only for the functions of cel-go.
	Functions bool `json:"functions"`
	// A `FileDescriptorSet`, for the questions that follow.
	Descriptors []byte `json:"descriptors"`

	Source    string            `json:"source"`
	Container string            `json:"container"`
	Variables map[string]string `json:"variables"`
	// Sets of values: the kind, and the value or its parts.
	Bindings []map[string]value `json:"bindings"`
	Parsed   []byte             `json:"parsed"`
	Checked  []byte             `json:"checked"`
	// celero's trees in JSON.
	ParsedJSON  string `json:"parsed_json"`
	CheckedJSON string `json:"checked_json"`
}

type value struct {
	Kind  string  `json:"kind"`
	Text  string  `json:"text"`
	Parts []value `json:"parts"`
}

type answer struct {
	// The identifiers of overloads and the names of their functions.
	Overloads map[string]string `json:"overloads"`
	// What is new in each version of each library.
	Versions map[string][]map[string]string `json:"versions"`
	// Why cel-go does not take the source; then there is nothing else.
	Refused string `json:"refused"`
	Parsed  []byte `json:"parsed"`
	Checked []byte `json:"checked"`
	// cel-go's checked tree in JSON.
	CheckedJSON string `json:"checked_json"`
	// How celero's trees differ, apart from identifiers and places; empty if they do not.
	Differences []string `json:"differences"`
	// Whether parts of celero's checked tree have other types than cel-go infers: then references are not compared.
	OtherTypes bool `json:"other_types"`
	// The results of cel-go's tree, of celero's parsed one and of celero's checked one.
	Results     []value `json:"results"`
	FromParsed  []value `json:"from_parsed"`
	FromChecked []value `json:"from_checked"`
	// The validators that refuse the source.
	Refusing []string `json:"refusing"`
}

// The types of messages; nil if there are none.
var files *protoregistry.Files

func messageType(name string) protoreflect.MessageDescriptor {
	if files == nil {
		return nil
	}
	descriptor, err := files.FindDescriptorByName(protoreflect.FullName(name))
	if err != nil {
		return nil
	}
	message, _ := descriptor.(protoreflect.MessageDescriptor)
	return message
}

// A type as celero shows it: `map(string, list(int))`.
func parseType(text string) (*cel.Type, string, error) {
	end := strings.IndexAny(text, "(),")
	if end < 0 {
		end = len(text)
	}
	name, rest := strings.TrimSpace(text[:end]), text[end:]
	var parameters []*cel.Type
	if strings.HasPrefix(rest, "(") {
		for !strings.HasPrefix(rest, ")") {
			parameter, after, err := parseType(rest[1:])
			if err != nil {
				return nil, "", err
			}
			parameters, rest = append(parameters, parameter), after
			if rest == "" {
				return nil, "", fmt.Errorf("no type: %s", text)
			}
		}
		rest = rest[1:]
	}
	simple := map[string]*cel.Type{
		"bool": cel.BoolType, "int": cel.IntType, "uint": cel.UintType, "double": cel.DoubleType, "string": cel.StringType, "bytes": cel.BytesType,
		"dyn": cel.DynType, "null_type": cel.NullType, "google.protobuf.Duration": cel.DurationType, "google.protobuf.Timestamp": cel.TimestampType,
		"net.IP": ext.IPType, "net.CIDR": ext.CIDRType,
	}
	switch {
	case simple[name] != nil && len(parameters) == 0:
		return simple[name], rest, nil
	case name == "list" && len(parameters) == 1:
		return cel.ListType(parameters[0]), rest, nil
	case name == "map" && len(parameters) == 2:
		return cel.MapType(parameters[0], parameters[1]), rest, nil
	case name == "optional_type" && len(parameters) == 1:
		return cel.OptionalType(parameters[0]), rest, nil
	case name == "wrapper" && len(parameters) == 1:
		return cel.NullableType(parameters[0]), rest, nil
	case name == "type" && len(parameters) == 1:
		return types.NewTypeTypeWithParam(parameters[0]), rest, nil
	case messageType(name) != nil:
		return cel.ObjectType(name), rest, nil
	}
	return nil, "", fmt.Errorf("no type that cel-go has: %s", text)
}

func (v value) native() (any, error) {
	number := func() (int64, error) { return strconv.ParseInt(v.Text, 10, 64) }
	switch v.Kind {
	case "null":
		return types.NullValue, nil
	case "bool":
		return v.Text == "true", nil
	case "int":
		return number()
	case "uint":
		return strconv.ParseUint(v.Text, 10, 64)
	case "double":
		return strconv.ParseFloat(v.Text, 64)
	case "string":
		return v.Text, nil
	case "bytes":
		return base64.StdEncoding.DecodeString(v.Text)
	case "duration":
		nanos, err := number()
		return time.Duration(nanos), err
	case "timestamp":
		return time.Parse(time.RFC3339Nano, v.Text)
	case "list":
		elements := []any{}
		for _, part := range v.Parts {
			element, err := part.native()
			if err != nil {
				return nil, err
			}
			elements = append(elements, element)
		}
		return elements, nil
	case "map":
		entries := map[any]any{}
		for at := 0; at+1 < len(v.Parts); at += 2 {
			key, err := v.Parts[at].native()
			if err != nil {
				return nil, err
			}
			if entries[key], err = v.Parts[at+1].native(); err != nil {
				return nil, err
			}
		}
		return entries, nil
	case "message":
		descriptor := messageType(v.Text)
		if descriptor == nil {
			break
		}
		wire, err := v.Parts[0].native()
		if err != nil {
			return nil, err
		}
		message := dynamicpb.NewMessage(descriptor)
		return message, proto.UnmarshalOptions{AllowPartial: true}.Unmarshal(wire.([]byte), message)
	}
	return nil, fmt.Errorf("no value that cel-go has: %s", v.Kind)
}

func environment(asked question) (*cel.Env, error) {
	options := []cel.EnvOption{
		cel.OptionalTypes(), cel.EnableMacroCallTracking(), cel.Container(asked.Container), cel.CrossTypeNumericComparisons(true),
		cel.EnableIdentifierEscapeSyntax(),
		ext.Strings(), ext.Math(), ext.Lists(), ext.Sets(), ext.Encoders(), ext.Bindings(), ext.TwoVarComprehensions(), ext.Regex(), ext.Network(),
	}
	if files != nil {
		options = append(options, cel.TypeDescs(files))
	}
	for name, text := range asked.Variables {
		parsed, _, err := parseType(text)
		if err != nil {
			return nil, err
		}
		options = append(options, cel.Variable(name, parsed))
	}
	return cel.NewEnv(options...)
}

// The result of each evaluation; one that fails is of the kind `error`.
func evaluate(env *cel.Env, checked *cel.Ast, bindings []map[string]any) []value {
	program, err := env.Program(checked)
	if err != nil {
		return []value{{Kind: "no program", Text: err.Error()}}
	}
	results := []value{}
	for _, set := range bindings {
		if result, _, err := program.Eval(set); err != nil {
			results = append(results, value{Kind: "error", Text: err.Error()})
		} else {
			results = append(results, shown(result))
		}
	}
	return results
}

func shown(result ref.Val) value {
	switch of := result.(type) {
	case types.Null:
		return value{Kind: "null"}
	case types.Bool, types.Int, types.Uint, types.String:
		return value{Kind: of.Type().TypeName(), Text: fmt.Sprint(of.Value())}
	case types.Double:
		return value{Kind: "double", Text: strconv.FormatFloat(float64(of), 'g', -1, 64)}
	case types.Bytes:
		return value{Kind: "bytes", Text: base64.StdEncoding.EncodeToString(of)}
	case types.Duration:
		return value{Kind: "duration", Text: strconv.FormatInt(of.Nanoseconds(), 10)}
	case types.Timestamp:
		return value{Kind: "timestamp", Text: of.UTC().Format(time.RFC3339Nano)}
	case *types.Type:
		return value{Kind: "type", Text: of.TypeName()}
	case *types.Optional:
		if !of.HasValue() {
			return value{Kind: "optional"}
		}
		return value{Kind: "optional", Parts: []value{shown(of.GetValue())}}
	case traits.Lister:
		list := value{Kind: "list"}
		for elements := of.Iterator(); elements.HasNext() == types.True; {
			list.Parts = append(list.Parts, shown(elements.Next()))
		}
		return list
	case traits.Mapper:
		entries := [][]value{}
		for keys := of.Iterator(); keys.HasNext() == types.True; {
			key := keys.Next()
			entries = append(entries, []value{shown(key), shown(of.Get(key))})
		}
		// Entries of maps have no order.
		sort.Slice(entries, func(a, b int) bool { return fmt.Sprint(entries[a][0]) < fmt.Sprint(entries[b][0]) })
		all := value{Kind: "map"}
		for _, entry := range entries {
			all.Parts = append(all.Parts, entry...)
		}
		return all
	}
	if message, is := result.Value().(proto.Message); is {
		wire, err := proto.MarshalOptions{Deterministic: true, AllowPartial: true}.Marshal(message)
		if err != nil {
			return value{Kind: "error", Text: err.Error()}
		}
		return value{Kind: "message", Text: result.Type().TypeName(), Parts: []value{shown(types.Bytes(wire))}}
	}
	return value{Kind: result.Type().TypeName(), Text: fmt.Sprint(result.Value())}
}

func isLogic(expression *exprpb.Expr) bool {
	function := expression.GetCallExpr().GetFunction()
	return function == "_&&_" || function == "_||_"
}

// The text of an expression without identifiers. Chains of `&&` and `||` have one level, whatever parentheses they were written with.
func shape(expression *exprpb.Expr) string {
	copied := proto.Clone(expression).(*exprpb.Expr)
	visit(copied, func(expression *exprpb.Expr, id *int64) {
		*id = 0
		if !isLogic(expression) {
			return
		}
		call := expression.GetCallExpr()
		operands := []*exprpb.Expr{}
		for todo := call.Args; len(todo) > 0; {
			next := todo[0]
			todo = todo[1:]
			if inner := next.GetCallExpr(); inner.GetFunction() == call.Function {
				todo = append(append([]*exprpb.Expr{}, inner.Args...), todo...)
			} else {
				operands = append(operands, next)
			}
		}
		call.Args = operands
	})
	return prototext.MarshalOptions{}.Format(copied)
}

// Copies a message to the same of the other package of the same messages.
func convert(from, to proto.Message) {
	bytes, err := proto.Marshal(from)
	if err == nil {
		err = proto.Unmarshal(bytes, to)
	}
	if err != nil {
		log.Fatal(err)
	}
}

func visit(expression *exprpb.Expr, see func(*exprpb.Expr, *int64)) {
	if expression == nil {
		return
	}
	see(expression, &expression.Id)
	all := []*exprpb.Expr{}
	switch kind := expression.ExprKind.(type) {
	case *exprpb.Expr_SelectExpr:
		all = append(all, kind.SelectExpr.Operand)
	case *exprpb.Expr_CallExpr:
		all = append(append(all, kind.CallExpr.Target), kind.CallExpr.Args...)
	case *exprpb.Expr_ListExpr:
		all = append(all, kind.ListExpr.Elements...)
	case *exprpb.Expr_StructExpr:
		for _, entry := range kind.StructExpr.Entries {
			see(nil, &entry.Id)
			all = append(all, entry.GetMapKey(), entry.Value)
		}
	case *exprpb.Expr_ComprehensionExpr:
		loop := kind.ComprehensionExpr
		all = append(all, loop.IterRange, loop.AccuInit, loop.LoopCondition, loop.LoopStep, loop.Result)
	}
	for _, part := range all {
		visit(part, see)
	}
}

// The overloads that each call refers to, and the names, in the order of the tree.
func references(checked *exprpb.CheckedExpr) []string {
	found := []string{}
	visit(checked.Expr, func(expression *exprpb.Expr, id *int64) {
		if expression == nil || isLogic(expression) {
			return
		}
		reference := checked.ReferenceMap[*id]
		overloads := []string{}
		for _, overload := range reference.GetOverloadId() {
			// Of the functions that both have, the only overload that celero does not have.
			if overload != "duration_to_int64" {
				overloads = append(overloads, overload)
			}
		}
		sort.Strings(overloads)
		found = append(found, fmt.Sprintf("%s%v%v", reference.GetName(), overloads, reference.GetValue()))
	})
	return found
}

// The type of a part. cel-go gives none to the name of a field that is selected optionally.
func typeOf(checked *exprpb.CheckedExpr, expression *exprpb.Expr) *exprpb.Type {
	if of := checked.TypeMap[expression.Id]; of != nil || expression.GetConstExpr() == nil {
		return of
	}
	return &exprpb.Type{TypeKind: &exprpb.Type_Primitive{Primitive: exprpb.Type_STRING}}
}

func typesOf(checked *exprpb.CheckedExpr) []string {
	found := []string{}
	visit(checked.Expr, func(expression *exprpb.Expr, id *int64) {
		if expression != nil && !isLogic(expression) {
			found = append(found, strings.Join(strings.Fields(prototext.MarshalOptions{}.Format(typeOf(checked, expression))), " "))
		}
	})
	return found
}

// The calls of macros that were expanded, as texts without identifiers.
func macroCalls(info *exprpb.SourceInfo) []string {
	found := []string{}
	for _, call := range info.GetMacroCalls() {
		found = append(found, call.GetCallExpr().GetFunction())
	}
	sort.Strings(found)
	return found
}

func judge(asked question) (answered answer) {
	answered = answer{Differences: []string{}, Results: []value{}, FromParsed: []value{}, FromChecked: []value{}}
	if asked.Descriptors != nil {
		set := &descriptorpb.FileDescriptorSet{}
		err := proto.Unmarshal(asked.Descriptors, set)
		if err == nil {
			files, err = protodesc.NewFiles(set)
		}
		if err != nil {
			log.Fatal(err)
		}
		return
	}
	env, err := environment(asked)
	if err != nil {
		answered.Refused = err.Error()
		return
	}
	if asked.Functions {
		answered.Overloads = map[string]string{}
		for name, function := range env.Functions() {
			for _, overload := range function.OverloadDecls() {
				answered.Overloads[overload.ID()] = name
			}
		}
		answered.Versions = versions()
		return
	}
	bindings := []map[string]any{}
	for _, set := range asked.Bindings {
		natives := map[string]any{}
		for name, bound := range set {
			if natives[name], err = bound.native(); err != nil {
				answered.Refused = err.Error()
				return
			}
		}
		bindings = append(bindings, natives)
	}
	parsed, issues := env.Parse(asked.Source)
	if issues.Err() != nil {
		answered.Refused = issues.Err().Error()
		return
	}
	alphaParsed, err := cel.AstToParsedExpr(parsed)
	if err != nil {
		log.Fatal(err)
	}
	parsedTree, checkedTree := &exprpb.ParsedExpr{}, &exprpb.CheckedExpr{}
	convert(alphaParsed, parsedTree)
	checked, issues := env.Check(parsed)
	if issues.Err() != nil {
		answered.Refused = issues.Err().Error()
		return
	}
	alphaChecked, err := cel.AstToCheckedExpr(checked)
	if err != nil {
		log.Fatal(err)
	}
	convert(alphaChecked, checkedTree)
	deterministic := proto.MarshalOptions{Deterministic: true}
	answered.Parsed, _ = deterministic.Marshal(parsedTree)
	answered.Checked, _ = deterministic.Marshal(checkedTree)
	inJSON, err := protojson.Marshal(checkedTree)
	if err != nil {
		log.Fatal(err)
	}
	answered.CheckedJSON = string(inJSON)
	answered.Results = evaluate(env, checked, bindings)
	answered.Refusing = refusing(env, asked.Source)

	differs := func(format string, arguments ...any) {
		answered.Differences = append(answered.Differences, fmt.Sprintf(format, arguments...))
	}
	var own, ownJSON exprpb.ParsedExpr
	var ownChecked, ownCheckedJSON exprpb.CheckedExpr
	for _, read := range []error{
		proto.Unmarshal(asked.Parsed, &own), protojson.Unmarshal([]byte(asked.ParsedJSON), &ownJSON),
		proto.Unmarshal(asked.Checked, &ownChecked), protojson.Unmarshal([]byte(asked.CheckedJSON), &ownCheckedJSON),
	} {
		if read != nil {
			differs("not read: %v", read)
			return
		}
	}
	if !proto.Equal(&own, &ownJSON) || !proto.Equal(&ownChecked, &ownCheckedJSON) {
		differs("JSON is another message than the bytes")
	}
	if shape(own.Expr) != shape(parsedTree.Expr) {
		differs("parsed: %s\ncel-go: %s", shape(own.Expr), shape(parsedTree.Expr))
	}
	if a, b := macroCalls(own.SourceInfo), macroCalls(parsedTree.SourceInfo); fmt.Sprint(a) != fmt.Sprint(b) {
		differs("macro calls: %v, cel-go: %v", a, b)
	}
	if a, b := own.SourceInfo.GetLineOffsets(), parsedTree.SourceInfo.GetLineOffsets(); fmt.Sprint(a) != fmt.Sprint(b) {
		differs("lines: %v, cel-go: %v", a, b)
	}
	if shape(ownChecked.Expr) != shape(checkedTree.Expr) {
		differs("checked: %s\ncel-go: %s", shape(ownChecked.Expr), shape(checkedTree.Expr))
	} else if a, b := typesOf(&ownChecked), typesOf(checkedTree); fmt.Sprint(a) != fmt.Sprint(b) {
		answered.OtherTypes = true
	} else if a, b := references(&ownChecked), references(checkedTree); fmt.Sprint(a) != fmt.Sprint(b) {
		differs("references: %v, cel-go: %v", a, b)
	}

	alphaOwn, alphaOwnChecked := &alpha.ParsedExpr{}, &alpha.CheckedExpr{}
	convert(&own, alphaOwn)
	convert(&ownChecked, alphaOwnChecked)
	if again, issues := env.Check(cel.ParsedExprToAst(alphaOwn)); issues.Err() != nil {
		answered.FromParsed = []value{{Kind: "not checked", Text: issues.Err().Error()}}
	} else {
		answered.FromParsed = evaluate(env, again, bindings)
	}
	answered.FromChecked = evaluate(env, cel.CheckedExprToAst(alphaOwnChecked), bindings)
	return
}

func main() {
	answers := bufio.NewWriter(os.Stdout)
	defer answers.Flush()
	questions, output := json.NewDecoder(bufio.NewReader(os.Stdin)), json.NewEncoder(answers)
	for questions.More() {
		var asked question
		if err := questions.Decode(&asked); err != nil {
			log.Fatal(err)
		}
		if err := output.Encode(judge(asked)); err != nil {
			log.Fatal(err)
		}
	}
}
