package plan

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"handrail/steps"
	"handrail/steps/terraform/module"
	"handrail/steps/terraform/tool"
)

const (
	// schemaTime bounds the question for schemas: a plan waits for it.
	schemaTime = 60 * time.Second
	// schemaDeep bounds how deep blocks lie in each other.
	schemaDeep = 32
)

// learnSchema asks the providers of an initialised, trusted directory which
// attributes are sensitive, and tells out: a raw state marks only what the
// configuration marked. It returns why not, "" where they were told. The caller
// has seen the state: tofu opens the backend for this too, and creates an absent
// one. Nothing is initialised, and nothing is asked of the network.
func learnSchema(ctx context.Context, w module.Workdir, path string, env []string, out steps.Sink) string {
	sink, ok := out.(steps.SchemaSink)
	if !ok {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, schemaTime)
	defer cancel()
	r, err := tool.Run(ctx, w.Dir, env, path, "providers", "schema", "-json")
	if err == nil && r.Exit != 0 {
		err = errors.New(tool.FirstError(r.Stderr))
	}
	var paths map[string][]string
	if err == nil {
		paths, err = sensitivePaths(r.Stdout)
	}
	if err != nil {
		return fmt.Sprintf("which attributes the providers call sensitive: %v; states are redacted by marks, names and known types alone", err)
	}
	sink.Sensitive(paths)
	return ""
}

// schemaBlock is the part of a schema that is read.
type schemaBlock struct {
	Attributes map[string]schemaAttribute `json:"attributes"`
	BlockTypes map[string]struct {
		Block schemaBlock `json:"block"`
	} `json:"block_types"`
}

type schemaAttribute struct {
	Sensitive  bool         `json:"sensitive"`
	WriteOnly  bool         `json:"write_only"`
	NestedType *schemaBlock `json:"nested_type"`
}

// sensitivePaths reads `providers schema -json`: by type of resource or data
// source, the paths of its sensitive attributes.
func sensitivePaths(raw []byte) (map[string][]string, error) {
	// A warning about the CLI configuration may stand before the document.
	raw = raw[max(0, bytes.IndexByte(raw, '{')):]
	type schemas map[string]struct {
		Block schemaBlock `json:"block"`
	}
	var doc struct {
		Format    string `json:"format_version"`
		Providers map[string]struct {
			Resources schemas `json:"resource_schemas"`
			Data      schemas `json:"data_source_schemas"`
			Ephemeral schemas `json:"ephemeral_resource_schemas"`
		} `json:"provider_schemas"`
	}
	if err := json.Unmarshal(raw, &doc); err != nil {
		return nil, fmt.Errorf("the schemas as JSON: %w", err)
	}
	if doc.Format == "" {
		return nil, errors.New("the schemas have no format version")
	}
	out := map[string][]string{}
	for _, p := range doc.Providers {
		for _, kind := range []schemas{p.Resources, p.Data, p.Ephemeral} {
			for typ, s := range kind {
				s.Block.walk("", 0, func(path string) { out[typ] = append(out[typ], path) })
			}
		}
	}
	for typ := range out {
		slices.Sort(out[typ])
		out[typ] = slices.Compact(out[typ])
	}
	return out, nil
}

func (b schemaBlock) walk(at string, deep int, found func(path string)) {
	if deep > schemaDeep {
		return
	}
	for name, a := range b.Attributes {
		switch {
		case a.Sensitive || a.WriteOnly:
			found(at + name)
		case a.NestedType != nil:
			a.NestedType.walk(at+name+".", deep+1, found)
		}
	}
	for name, t := range b.BlockTypes {
		t.Block.walk(at+name+".", deep+1, found)
	}
}
