package drills

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"k8s.io/client-go/tools/clientcmd"

	"handrail/drills/lab"
	"handrail/drills/stage"
	"handrail/steps"
)

// Running is a drill whose failure is injected and waits to be walked. The
// drill goes on when it is closed and when this process ends; Stop ends it.
type Running struct {
	stage stage.Stage
	scene Scene
	lab   *lab.Lab
	lease *lab.Lease
	cat   steps.Catalog

	doors  sync.Mutex // guards what changes while the drill is walked: rec.Later, rec.Held, rec.Bundle
	follow follower
}

// ID is the id of the drill, as session.Begin takes it.
func (r *Running) ID() string { return r.stage.Rec.ID }

// Scene is what was injected.
func (r *Running) Scene() Scene { return r.scene }

// Runbook is the id of the runbook that walks it.
func (r *Running) Runbook() string { return r.scene.Drill.Runbook }

// Dir is the root module in which the failure happened, "" where there is none.
func (r *Running) Dir() string { return r.stage.Rec.Dir }

// Practice says, by manual step, where a person does what a script does by its
// hands.
func (r *Running) Practice() map[string]string {
	var where string
	switch {
	case r.scene.inject.Node():
		where = fmt.Sprintf("The disk of node %s is the folder %s. What you do to its files there is done on the node.", r.stage.NodeName(), r.stage.RootDir())
	case r.stage.Rec.Dir != "":
		where = fmt.Sprintf("The root module is the folder %s.", r.stage.Rec.Dir)
	default:
		return nil
	}
	out := map[string]string{}
	for step := range r.scene.hands {
		out[step] = where
	}
	return out
}

// Operator is the user as whom the trainee reads and acts, as the audit log
// of the lab, or that of the bucket, spells it.
func (r *Running) Operator() string {
	if r.lab == nil {
		return stage.NameOperator
	}
	return r.stage.Rec.Namespace.Operator
}

// Params returns the parameters of the runbook in their text form, as
// runbooks.Runbook.Bind takes them.
func (r *Running) Params() map[string]string {
	out := map[string]string{}
	for name, text := range r.scene.params {
		out[name] = spelled(text, r.stage.Rec.Values)
	}
	return out
}

// spelled is a text with the values of a drill that it names.
func spelled(text string, values map[string]steps.Value) string {
	return drillName.ReplaceAllStringFunc(text, func(m string) string {
		return values[strings.TrimSuffix(strings.TrimPrefix(m, "${drill."), "}")].Text()
	})
}

// Vars returns what phrases of a script may name: drill.NAME for each value.
func (r *Running) Vars() map[string]string {
	out := map[string]string{}
	for name, v := range r.stage.Rec.Values {
		out["drill."+name] = v.Text()
	}
	return out
}

// Env turns the operator's environment into that of the trainee: the lab as
// operator, the lab's tofu, and the drill's directory trusted.
func (r *Running) Env(base steps.Env) steps.Env {
	env := base
	env.Environ = r.stage.OperatorEnviron(base.Environ)
	env.Kubeconfig, env.Context, env.Namespace = r.stage.Rec.Namespace.OperatorKubeconfig, "", r.stage.Rec.Namespace.Name
	env.Kubectl = nil
	env.Tool = r.stage.Tool
	env.Trusted = func(dir string) error {
		if r.stage.Rec.Dir != "" && within(dir, r.stage.Rec.Dir) {
			return nil
		}
		if base.Trusted == nil {
			return fmt.Errorf("%q is not the directory of the drill", dir)
		}
		return base.Trusted(dir)
	}
	return env
}

func within(dir, root string) bool {
	resolve := func(p string) string {
		if real, err := filepath.EvalSymlinks(p); err == nil {
			return real
		}
		return filepath.Clean(p)
	}
	rel, err := filepath.Rel(resolve(root), resolve(dir))
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// Secrets returns the tokens of the drill's identities, which must not reach a
// bundle.
func (r *Running) Secrets() ([]string, error) {
	var out []string
	files := []string{r.stage.Rec.Namespace.RobotKubeconfig, r.stage.Rec.Namespace.OperatorKubeconfig}
	for _, path := range append(files, slices.Sorted(maps.Values(r.stage.Rec.Accounts))...) {
		if path == "" { // there is no cluster
			continue
		}
		cfg, err := clientcmd.LoadFromFile(path)
		if err != nil {
			return nil, fmt.Errorf("kubeconfig of drill %s: %w", r.stage.Rec.ID, err)
		}
		for _, user := range cfg.AuthInfos {
			if user.Token != "" {
				out = append(out, user.Token)
			}
		}
	}
	if r.stage.Rec.Bucket != nil {
		words, err := r.stage.BucketSecrets()
		if err != nil {
			return nil, err
		}
		out = append(out, words...)
	}
	keys, err := r.stage.StoreSecrets()
	if err != nil {
		return nil, err
	}
	out = append(out, keys...)
	if r.stage.Rec.Broker != nil {
		words, err := r.stage.BrokerSecrets()
		if err != nil {
			return nil, err
		}
		out = append(out, words...)
	}
	if r.stage.Rec.Keycloak != "" {
		words, err := r.stage.KeycloakSecrets()
		if err != nil {
			return nil, err
		}
		out = append(out, words...)
	}
	uploads, err := r.stage.UploadsSecrets()
	if err != nil {
		return nil, err
	}
	cloud, err := r.stage.AWSSecrets()
	if err != nil {
		return nil, err
	}
	out = append(append(out, uploads...), cloud...)
	if r.stage.Rec.Forge != nil {
		words, err := r.stage.ForgeSecrets()
		if err != nil {
			return nil, err
		}
		out = append(out, words...)
	}
	if r.stage.Rec.API != "" {
		for _, who := range []string{stage.NameRobot, stage.NameOperator} {
			token, err := r.stage.Token(who)
			if err != nil {
				return nil, err
			}
			out = append(out, token)
		}
	}
	return out, nil
}

// SetBundle writes down which bundle walks the drill, for resume and judging.
func (r *Running) SetBundle(path string) error {
	r.doors.Lock()
	defer r.doors.Unlock()
	r.stage.Rec.Bundle = path
	return r.stage.Save()
}

// Close ends the following and lets the lab end when no other process needs it. The
// drill goes on.
func (r *Running) Close() error { return errors.Join(r.follow.end(), r.lease.Release()) }

// end stops the following and says what went wrong with it.
func (f *follower) end() error {
	if f.cancel == nil {
		return nil
	}
	f.cancel()
	f.work.Wait()
	return f.err
}
