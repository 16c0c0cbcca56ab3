package plan

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"handrail/steps"
	"handrail/steps/terraform/module"
	"handrail/steps/terraform/tfplan"
)

// MaxSize bounds a plan that is read.
const MaxSize = 2 << 30

// FileFacts are the facts of terraform/plan-file.
func FileFacts() []steps.Field {
	bound := func(name, doc string) steps.Field {
		return steps.Field{Name: name, Type: steps.Enum, Values: []string{"same", "moved"}, Doc: doc}
	}
	return append([]steps.Field{
		{Name: "format", Type: steps.Enum, Values: []string{"saved", "json"}, Doc: "a saved plan, or the output of `show -json`"},
		{Name: "digest", Type: steps.Ident, Doc: "SHA-256 of the file"},
		{Name: "tool_version", Type: steps.String, Doc: "version of the tool that wrote it: a saved plan is taken by that version alone"},
		{Name: "made", Type: steps.String, Doc: "when it was made, as it says itself"},
		{Name: "mode", Type: steps.String, Doc: "normal, destroy or refresh-only"},
		{Name: "bound_serial", Type: steps.Int, Doc: "serial of the state that it was made from"},
		{Name: "bound_lineage", Type: steps.Ident, Doc: "lineage of that state, empty for a first plan"},
		bound("state_bound", "serial and lineage, then and now: all that the tools check"),
		bound("content_bound", "what the state records, then and now, which the tools do not check"),
		bound("config_bound", "the configuration in the plan and on disk; the apply uses the one in the plan"),
		bound("providers_bound", ".terraform.lock.hcl in the plan and on disk"),
		bound("workspace_bound", "workspace and backend of the plan, and those in effect here"),
		bound("tool_bound", "tool_version, and the parameter tool_version"),
		{Name: "config_changes", Type: steps.Strings, Doc: "files of the configuration that differ"},
		{Name: "variables", Type: steps.Strings, Doc: "names of the variables whose values are fixed in the plan"},
		{Name: "fixed", Type: steps.Strings, Doc: "variables with their values, the default ones too, targets, replacements, mode and workspace that a saved plan fixes"},
	}, riskFacts()...)
}

// FileProbe is terraform/plan-file.
type FileProbe struct{ Env steps.Env }

// Probe implements steps.Prober.
func (p FileProbe) Probe(ctx context.Context, in steps.Params, out steps.Sink) (steps.Observation, error) {
	if err := ctx.Err(); err != nil {
		return steps.Observation{}, err
	}
	name := in.Text("file")
	if name == "" {
		return steps.Observation{}, errors.New("the parameter file is missing: name the saved plan, or the output of `show -json` of it")
	}
	name = steps.Below(p.Env.Dir, name)
	file, err := steps.OpenRegular(name)
	if err != nil {
		return steps.Observation{}, fmt.Errorf("plan: %w", err)
	}
	defer file.Close()
	f := steps.NewFacts(FileFacts())
	sum, err := DigestOf(ctx, file)
	if err != nil {
		return steps.Observation{}, fmt.Errorf("plan %s: %w", name, err)
	}
	f.Set("digest", steps.IdentOf(sum))
	head := make([]byte, 4)
	n, _ := file.ReadAt(head, 0)
	if string(head[:n]) == "PK\x03\x04" {
		return p.saved(ctx, in, name, file, f, out)
	}
	obs := steps.Observation{Command: "jq .resource_changes " + steps.Quote(name)}
	d, err := tfplan.ReadJSON(module.Until(ctx, file), out.Secret)
	if err != nil {
		return steps.Observation{}, fmt.Errorf("plan %s: %w", name, err)
	}
	if !d.Whole {
		return steps.Observation{}, fmt.Errorf("plan %s: %s", name, d.Broken)
	}
	gap := steps.Keep(out, "plan", steps.MediaPlan, func(w io.Writer) error {
		_, err := io.Copy(w, &afterBrace{r: module.Until(ctx, io.NewSectionReader(file, 0, MaxSize))})
		return err
	})
	if gap != "" {
		obs.Gaps = append(obs.Gaps, gap)
	}
	f.Set("format", steps.EnumOf("json"))
	f.Set("tool_version", steps.StringOf(d.Tool))
	fillRisk(d, false, true, f, &obs)
	obs.Facts = f.Rest("the JSON of a plan does not say what the saved plan is bound to; name the saved plan itself")
	return obs, nil
}

// DigestOf sums up a file and returns to its start.
func DigestOf(ctx context.Context, file *os.File) (string, error) {
	h := sha256.New()
	n, err := io.Copy(h, io.LimitReader(module.Until(ctx, file), MaxSize+1))
	if err == nil && n > MaxSize {
		err = fmt.Errorf("it is over %d bytes", int64(MaxSize))
	}
	if err == nil {
		_, err = file.Seek(0, io.SeekStart)
	}
	return hex.EncodeToString(h.Sum(nil)), err
}

// afterBrace drops a warning before the document.
type afterBrace struct {
	r    io.Reader
	past bool
}

func (a *afterBrace) Read(p []byte) (int, error) {
	n, err := a.r.Read(p)
	if a.past || n == 0 {
		return n, err
	}
	if i := strings.IndexByte(string(p[:n]), '{'); i >= 0 {
		a.past = true
		return copy(p, p[i:n]), err
	}
	return 0, err
}

func (p FileProbe) saved(ctx context.Context, in steps.Params, name string, file *os.File, f steps.Facts, out steps.Sink) (steps.Observation, error) {
	info, err := file.Stat()
	if err != nil {
		return steps.Observation{}, fmt.Errorf("plan %s: %w", name, err)
	}
	s, err := tfplan.OpenSaved(file, info.Size())
	if err != nil {
		return steps.Observation{}, fmt.Errorf("plan %s: %w", name, err)
	}
	if !s.Doc.Whole {
		return steps.Observation{}, fmt.Errorf("plan %s: %s", name, s.Doc.Broken)
	}
	obs := steps.Observation{Command: "unzip -l " + steps.Quote(name) + " && unzip -p " + steps.Quote(name) + " tfstate-prev | jq '{serial, lineage}'"}
	f.Set("format", steps.EnumOf("saved"))
	f.Set("tool_version", steps.StringOf(s.Doc.Tool))
	f.Set("made", steps.StringOf(s.Created))
	f.Set("mode", steps.StringOf(s.Mode))
	f.Set("variables", steps.StringsOf(s.Variables))
	f.Set("fixed", steps.StringsOf(fixedNames(Fixed(s, out.Secret))))
	fillRisk(s.Doc, s.Mode == "refresh-only", false, f, &obs)
	if err := Bind(ctx, p.Env, in, s, f, &obs, out); err != nil {
		return steps.Observation{}, err
	}
	// The archive holds values in forms that nothing redacts: it is not kept.
	obs.Gaps = append(obs.Gaps, "a saved plan holds secrets and is not copied into the bundle; its digest is")
	obs.Facts = f.Rest("the saved plan does not say")
	return obs, nil
}
