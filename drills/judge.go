package drills

import (
	"context"
	"fmt"
	"io"
	"path/filepath"

	"handrail/steps"
)

// Judged is one win condition and whether it holds.
type Judged struct {
	Condition string `json:"condition"`
	Holds     bool   `json:"holds"`
	Why       string `json:"why,omitempty"` // what was read, or why it cannot be told
}

// Judgement says whether a drill is won.
type Judgement struct {
	Won        bool     `json:"won"`
	Conditions []Judged `json:"conditions"`
}

// Judge reads the lab anew as robot and judges the win conditions. The bundle
// has no say. A condition that cannot be told does not hold; the error means
// that the judging was cut off.
func (r *Running) Judge(ctx context.Context) (Judgement, error) {
	vars := map[string]any{}
	for name, v := range r.rec.Values {
		vars["drill."+name] = celValue(v)
	}
	unknown := ""
	for _, p := range r.scene.win.probes {
		facts, why := r.read(ctx, p)
		if ctx.Err() != nil {
			return Judgement{}, context.Cause(ctx)
		}
		if why != "" {
			unknown += fmt.Sprintf("; %s: %s", p.name, why)
		}
		for name, v := range facts {
			if v.Known() {
				vars["facts."+p.name+"."+name] = celValue(v)
			}
		}
	}
	j := Judgement{Won: true}
	for _, c := range r.scene.win.all {
		out := Judged{Condition: c.text}
		val, _, err := c.program.Eval(vars)
		if err != nil {
			out.Why = "cannot be told: " + err.Error() + unknown
		} else {
			out.Holds, _ = val.Value().(bool)
		}
		j.Won = j.Won && out.Holds
		j.Conditions = append(j.Conditions, out)
	}
	return j, nil
}

// read runs one probe with robot's data directory and kubeconfig.
func (r *Running) read(ctx context.Context, p winProbe) (map[string]steps.Value, string) {
	env := steps.Env{
		Dir: r.rec.Dir, Environ: r.robotEnviron(), Home: r.home, Now: r.now,
		Kubeconfig: r.rec.Namespace.RobotKubeconfig, Namespace: r.rec.Namespace.Name,
		Tool:    func(string) (string, error) { return r.tofu, nil },
		Trusted: func(string) error { return nil },
	}
	in := steps.Params{}
	for _, f := range p.kind.Params {
		switch {
		case f.Name == "dir":
			in["dir"] = steps.PathOf(r.rec.Dir)
		case f.Name == "file":
			in["file"] = steps.PathOf(filepath.Clean(r.rec.Log))
		case f.Default != "":
			if v, err := steps.ParseValue(f.Type, f.Default); err == nil {
				in[f.Name] = v
			}
		}
	}
	obs, err := p.kind.Reads(env).Probe(ctx, in, discard{})
	if err != nil {
		return nil, err.Error()
	}
	return obs.Facts, ""
}

// discard is a sink that keeps nothing.
type discard struct{}

func (discard) Artifact(string, string) io.WriteCloser { return nowhere{io.Discard} }
func (discard) Line(string)                            {}
func (discard) Secret(string)                          {}

type nowhere struct{ io.Writer }

func (nowhere) Close() error { return nil }
