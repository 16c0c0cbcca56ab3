package runbooks

import (
	"slices"
	"strings"

	"handrail/steps"
	"handrail/triage"
)

// schema is a JSON Schema, of draft 7: what editors understand.
type schema = map[string]any

// Schema is the JSON Schema of a runbook, so that an editor completes what may stand where:
// keys, kinds of steps with their parameters, values. It follows from the tables that the
// reader reads by. With a runbook, also the facts, answers and parameters that its
// expressions may name; nil for a schema of any. The reader is stricter: it compiles the
// expressions and asks what the laws need.
func Schema(cat steps.Catalog, of *Runbook) map[string]any {
	s := schemer{cat: cat, of: of}
	top := schema{}
	for _, key := range bookKeys() {
		top[key] = s.key("a runbook", key)
	}
	top["severity"], top["domain"] = explained("severity", oneOf(severities(), "")), explained("domain", oneOf(domains(), ""))
	return schema{
		"$schema": "http://json-schema.org/draft-07/schema#", "title": "A runbook of handrail", "type": "object",
		"required": neededKeys(), "additionalProperties": false, "properties": top,
		"definitions": schema{"step": s.step()},
	}
}

type schemer struct {
	cat steps.Catalog
	of  *Runbook
}

func oneOf(values []string, doc string) schema {
	return schema{"type": "string", "enum": values, "description": doc}
}

func textOf(doc string) schema { return schema{"type": "string", "minLength": 1, "description": doc} }

func listOf(item schema) schema { return schema{"type": "array", "items": item} }

// expr is an expression, with the names that it may use where they are known.
func (s schemer) expr(doc string) schema {
	out := textOf(doc)
	if s.of != nil && len(s.of.scope.names) > 0 {
		out["examples"] = slices.Sorted(slices.Values(s.of.scope.names))
	}
	return out
}

func (s schemer) object(what string) schema {
	props := schema{}
	for _, key := range parts(what) {
		props[key] = s.key(what, key)
	}
	return schema{"type": "object", "additionalProperties": false, "properties": props}
}

// key is what may stand under a key of something, in form and in words.
func (s schemer) key(of, key string) schema { return explained(key, s.form(of, key)) }

func (s schemer) form(of, key string) schema {
	if of == "a runbook" && slices.Contains(phaseKeys(), key) {
		return listOf(schema{"$ref": "#/definitions/step"})
	}
	anything := schema{"type": []string{"string", "number", "boolean"}}
	switch key {
	case "apiVersion":
		return schema{"const": Version}
	case "kind":
		return schema{"const": "Runbook"}
	case "id":
		if of == "a runbook" {
			return schema{"type": "string", "pattern": bookForm.String()}
		}
		return schema{"type": "string", "pattern": idForm.String()}
	case "matrix":
		row := schema{"type": "integer", "minimum": 1, "maximum": len(triage.MatrixRows())}
		return schema{"anyOf": []schema{row, listOf(row)}}
	case "departs":
		return textOf("")
	case "reason":
		return textOf("")
	case "proves":
		show := s.ids("steps of verify that show it", triage.WatchStep)
		return schema{"type": "object", "propertyNames": schema{"enum": postConditions()}, "additionalProperties": schema{"anyOf": []schema{textOf("a step of verify"), show}}}
	case "symptoms":
		return listOf(textOf("what people see, in their words"))
	case "recognise":
		return listOf(s.object("a pattern"))
	case "params":
		return schema{"type": "object", "propertyNames": schema{"pattern": idForm.String()}, "additionalProperties": s.object("a parameter")}
	case "next":
		return listOf(s.object("a next runbook"))
	case "pattern":
		return textOf("")
	case "weight":
		return schema{"type": "integer", "minimum": -10, "maximum": 10}
	case "type":
		if of == "a fact" {
			return oneOf(s.outputTypes(), "")
		}
		return oneOf(paramTypes(), "")
	case "facts":
		return schema{"type": "object", "propertyNames": schema{"pattern": idForm.String()}, "additionalProperties": s.object("a fact")}
	case "cel":
		return textOf("")
	case "regexp":
		return textOf("")
	case "default", "min", "max":
		return anything
	case "patch":
		return schema{"type": "string", "pattern": patchPath.String()}
	case "required", "matched", "later":
		return schema{"type": "boolean"}
	case "values":
		return listOf(textOf("a value"))
	case "when":
		return s.expr("")
	case "else":
		return textOf("")
	case "level":
		return oneOf(levels(), "")
	case "against":
		return s.ids("gates that it keeps shut, or close", triage.GateStep, triage.Closing)
	case "doubts":
		return s.ids("questions whose answers it speaks against", triage.AskStep)
	case "is":
		return textOf("")
	case "despite", "green":
		return listOf(textOf(""))
	case "runbook":
		return textOf("")
	case "with":
		return schema{"type": "object"}
	case "show":
		item := schema{"anyOf": []schema{s.expr("a value to show"), {"type": "object"}}}
		return listOf(item)
	case "names":
		values := listOf(s.expr("a value that the words must name"))
		return schema{"anyOf": []schema{values, {"type": "object", "additionalProperties": values}}}
	case "covers":
		return listOf(oneOf(evidenceCodes(), "an item of evidence"))
	case "findings":
		return listOf(s.object("a finding"))
	case "fresh", "apart":
		return textOf("")
	case "answers":
		return schema{"type": "object", "minProperties": 1, "propertyNames": schema{"pattern": idForm.String()}, "additionalProperties": textOf("what the answer means; unknown is always there")}
	case "propose":
		return listOf(s.object("a proposal"))
	case "pays":
		return oneOf(debtKinds(), "")
	case "rows":
		return schema{"type": "object", "additionalProperties": schema{"type": "object", "minProperties": 2, "additionalProperties": s.expr("what this source says")}}
	case "cases":
		return listOf(s.object("a case"))
	case "require":
		return listOf(s.object("a requirement"))
	case "greens":
		return schema{"type": "integer", "minimum": 1, "maximum": 100}
	case "title", "uses", "conclude", "gate", "watch", "doc", "say", "help", "evidence", "domain", "severity", "ask", "manual", "compare", "note":
		return textOf("")
	}
	panic("runbooks: the schema has no form for the key " + key)
}

// outputTypes are those that a fact may have which a step declares.
func (s schemer) outputTypes() []string {
	out := []string{}
	for _, k := range s.cat.Kinds() {
		if k.Outputs == nil {
			continue
		}
		for _, t := range k.Outputs.Types {
			if !slices.Contains(out, string(t)) {
				out = append(out, string(t))
			}
		}
	}
	return out
}

// ids is a list of ids of steps of a kind, and more words.
func (s schemer) ids(doc string, kind triage.StepKind, more ...string) schema {
	item := textOf(doc)
	if s.of != nil {
		for _, st := range s.of.Steps {
			if st.Kind == kind {
				more = append(more, st.ID)
			}
		}
	}
	item["examples"] = more
	return listOf(item)
}

// step is one step: the keys that its kind takes, and for a kind of the catalogue its
// parameters and what it tells.
func (s schemer) step() schema {
	all, any, rules := schema{}, []schema{}, []schema{}
	for _, f := range forms() {
		any = append(any, schema{"required": []string{f.key}})
		keys := append(strings.Fields(f.keys), f.key)
		for _, key := range keys {
			if all[key] == nil {
				all[key] = s.key("a step", key)
			}
		}
		rules = append(rules, schema{"if": schema{"required": []string{f.key}}, "then": schema{"propertyNames": schema{"enum": keys}}})
	}
	all["conclude"] = explained("conclude", oneOf(topics(), ""))
	for _, t := range topics() {
		if values := topicValues(triage.Topic(t)); values != nil {
			is := schema{"properties": schema{"is": oneOf(append(values, triage.Unknown), "")}}
			rules = append(rules, given("conclude", t, schema{"properties": schema{"cases": listOf(is)}}))
		}
	}
	probes, gates := []string{}, []string{}
	for _, k := range s.cat.Kinds() {
		key := "uses"
		if k.Class.Gate() {
			key = "gate"
			gates = append(gates, k.Name)
		} else {
			probes = append(probes, k.Name)
		}
		rules = append(rules, given(key, k.Name, s.kind(k)))
		if key == "uses" {
			rules = append(rules, given("watch", k.Name, s.kind(k)))
		}
	}
	all["uses"], all["watch"], all["gate"] = explained("uses", oneOf(probes, "")), explained("watch", oneOf(probes, "")), explained("gate", oneOf(gates, ""))
	return schema{"type": "object", "properties": all, "anyOf": any, "allOf": rules}
}

func given(key, value string, then schema) schema {
	return schema{"if": schema{"required": []string{key}, "properties": schema{key: schema{"const": value}}}, "then": then}
}

// kind is what a step of a kind may be given, and in words what it tells.
func (s schemer) kind(k steps.Kind) schema {
	props, need := schema{}, []string{}
	for _, p := range k.Params {
		f := schema{"description": p.Doc}
		if len(p.Values) > 0 {
			f["anyOf"] = []schema{{"enum": p.Values}, {"type": "string", "pattern": `\$\{`}}
		}
		if p.Default != "" {
			f["default"] = p.Default
		}
		if p.Required {
			need = append(need, p.Name)
		}
		props[p.Name] = f
	}
	with := schema{"type": "object", "properties": props, "additionalProperties": false}
	rule := schema{"properties": schema{"with": with}}
	if len(need) > 0 {
		with["required"], rule["required"] = need, []string{"with"}
	}
	if len(k.Facts) > 0 {
		_, short, _ := strings.Cut(k.Name, "/")
		short = strings.ReplaceAll(short, "-", "_")
		var say strings.Builder
		var names []string
		say.WriteString(k.Doc + " Facts:")
		for _, f := range k.Facts {
			say.WriteString(" " + f.Name + " (" + string(f.Type))
			if len(f.Values) > 0 {
				say.WriteString(": " + strings.Join(f.Values, "|"))
			}
			say.WriteString(");")
			names = append(names, "facts."+short+"."+f.Name)
		}
		rule["description"] = strings.TrimSuffix(say.String(), ";")
		if s.of == nil {
			when := schema{"properties": schema{"when": schema{"examples": names}}}
			rule["properties"].(schema)["findings"] = listOf(when)
			rule["properties"].(schema)["show"] = listOf(schema{"examples": names})
		}
	}
	return rule
}
