package configuration

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"handrail/steps"
	"handrail/steps/terraform/loosetype"
	"handrail/steps/terraform/module"
)

// maxConfigFiles bounds the files of one module that are read.
const maxConfigFiles = 2000

// TypeFacts are the facts of terraform/type-check.
func TypeFacts() []steps.Field {
	return []steps.Field{
		{Name: "inputs", Type: steps.Int, Doc: "input variables of the root module and all that it calls"},
		{Name: "root_inputs", Type: steps.Int, Doc: "those of the root module"},
		{Name: "modules", Type: steps.Int, Doc: "modules that were read"},
		{Name: "loose", Type: steps.Int, Doc: "inputs that take any type somewhere"},
		{Name: "loose_inputs", Type: steps.Strings, Doc: "those, the likeliest to do harm first"},
		{Name: "reasons", Type: steps.Table, Doc: "input to what makes harm likely"},
		{Name: "mixed", Type: steps.Table, Doc: "input to literal values of several types that become one without an error"},
		{Name: "late", Type: steps.Strings, Doc: "inputs fed by values whose type may be known at the apply alone"},
		{Name: "consumers", Type: steps.Strings, Doc: "every use of the input or key that the parameters name, through modules"},
	}
}

// TypeProbe is terraform/type-check.
type TypeProbe struct{ Env steps.Env }

// Probe implements steps.Prober.
func (p TypeProbe) Probe(ctx context.Context, in steps.Params, _ steps.Sink) (steps.Observation, error) {
	if err := ctx.Err(); err != nil {
		return steps.Observation{}, err
	}
	dir := in.Text("dir")
	if dir == "" {
		dir = "."
	}
	dir = steps.Below(p.Env.Dir, dir)
	if _, err := os.Stat(dir); err != nil {
		return steps.Observation{}, fmt.Errorf("directory %s: %w", dir, err)
	}
	data := filepath.Join(dir, ".terraform")
	if d := p.Env.Getenv("TF_DATA_DIR"); d != "" {
		data = steps.Below(dir, d)
	}
	installed, err := installedModules(filepath.Join(data, "modules", "modules.json"))
	obs := steps.Observation{Command: "grep -rnE 'type *= *(map\\(|list\\()?any' " + steps.Quote(dir)}
	if err != nil {
		obs.Gaps = append(obs.Gaps, err.Error())
	}
	read := func(below string) (map[string][]byte, error) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		below = steps.Below(dir, below)
		return readConfig(below, module.IsConfig)
	}
	values, err := readConfig(dir, isValues)
	if err != nil {
		obs.Gaps = append(obs.Gaps, err.Error())
	}
	r := loosetype.Check(read, ".", installed, values, in.Text("key"))
	if err := ctx.Err(); err != nil {
		return steps.Observation{}, err
	}
	obs.Gaps = append(obs.Gaps, r.Gaps...)
	if r.Modules == 0 {
		return steps.Observation{}, fmt.Errorf("directory %s: no configuration could be read: %s", dir, strings.Join(r.Gaps, "; "))
	}
	f := steps.NewFacts(TypeFacts())
	fillTypes(r, in, f, &obs)
	return obs, nil
}

// installedModules reads where init put the modules.
func installedModules(name string) (map[string]string, error) {
	b, err := module.ReadSmall(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var list struct{ Modules []struct{ Key, Dir string } }
	if err == nil {
		err = json.Unmarshal(b, &list)
	}
	if err != nil {
		return nil, fmt.Errorf("list of installed modules: %w", err)
	}
	out := map[string]string{}
	for _, m := range list.Modules {
		if m.Key != "" {
			out[m.Key] = m.Dir
		}
	}
	return out, nil
}

func isValues(name string) bool {
	base := strings.TrimSuffix(name, ".json")
	return base == "terraform.tfvars" || strings.HasSuffix(base, ".auto.tfvars")
}

func readConfig(dir string, wanted func(string) bool) (map[string][]byte, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	out := map[string][]byte{}
	for _, e := range entries {
		if e.IsDir() || !wanted(e.Name()) {
			continue
		}
		if len(out) == maxConfigFiles {
			return nil, fmt.Errorf("directory %s holds more than %d files of configuration", dir, maxConfigFiles)
		}
		b, err := module.ReadSmall(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		out[e.Name()] = b
	}
	return out, nil
}

func fillTypes(r loosetype.Report, in steps.Params, f steps.Facts, obs *steps.Observation) {
	f.Set("inputs", steps.IntOf(int64(r.Inputs)))
	f.Set("root_inputs", steps.IntOf(int64(r.Root)))
	f.Set("modules", steps.IntOf(int64(r.Modules)))
	f.Set("loose", steps.IntOf(int64(len(r.Loose))))
	var names, late, uses []string
	reasons, mixed := map[string]string{}, map[string]string{}
	for n, i := range r.Loose {
		names = append(names, fmt.Sprintf("%s (type %s, %s)", i, i.Type, i.At))
		reasons[i.String()] = strings.Join(i.Why, "; ")
		if len(i.Mixed) > 0 {
			mixed[i.String()] = strings.Join(i.Mixed, "; ")
			obs.Findings = append(obs.Findings, steps.Finding{Level: steps.Critical,
				Say: fmt.Sprintf("%s: %s. The tools make them one type without an error: numbers become text, and what compares or filters them changes its answer.", i, i.Mixed[0])})
		}
		if i.Late {
			late = append(late, i.String())
			obs.Findings = append(obs.Findings, steps.Finding{Level: steps.Warning,
				Say: fmt.Sprintf("%s is fed by a value whose type may be known at the apply alone: a wrong shape then fails after what stands before it was made. A precise type does not help there.", i)})
		}
		if n < 5 && i.Rank >= 3 && len(i.Mixed) == 0 && !i.Late {
			obs.Say(steps.Info, "%s (type %s, %s) %s.", i, i.Type, i.At, strings.Join(i.Why, ", "))
		}
		for _, u := range i.Consumers {
			if name := in.Text("input"); strings.Contains(i.String(), name) && (name != "" || in.Text("key") != "") {
				uses = append(uses, fmt.Sprintf("%s: %s in %s, of %s", u.At, u.Of, u.In, i))
			}
		}
	}
	f.Set("loose_inputs", steps.StringsOf(names))
	f.Set("reasons", steps.TableOf(reasons))
	f.Set("mixed", steps.TableOf(mixed))
	f.Set("late", steps.StringsOf(late))
	f.Set("consumers", steps.StringsOf(uses))
	if in.Text("key") == "" && in.Text("input") == "" {
		f.Unknown("neither the parameter input nor key says of what", "consumers")
	}
	if len(r.Gaps) > 0 {
		f.Unknown("part of the configuration could not be read: "+steps.Clip(r.Gaps[0], 300), "inputs", "root_inputs", "loose", "consumers")
	}
	obs.Summary = fmt.Sprintf("%d of %d inputs in %d modules are loosely typed.", len(r.Loose), r.Inputs, r.Modules)
	obs.Facts = f.Rest("not read")
}
