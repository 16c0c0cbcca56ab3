package inject

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"handrail/drills/lab/forge"
	"handrail/drills/stage"
	"handrail/steps/strict"
)

// runForge is the verb forge.run.
type runForge struct {
	Owner     string            `key:"owner,required" as:"id"`
	Name      string            `key:"name,required" as:"id"`
	People    []string          `key:"people,required" each:"id" of:"an account"`
	Files     map[string]string `key:"files" of:"a file"`           // of the branch main
	Mirror    string            `key:"mirror" as:"id"`              // instead of files, a repository of the drill's Git server: main has its commits
	Operator  string            `key:"operator" oneof:"read write"` // what the operator's token may do, "" for read
	Approvals int               `key:"approvals" range:"0 9"`       // that main asks for
	Checks    []string          `key:"checks" each:"id" of:"a check"`
}

// Check wants files or a repository that has them.
func (a *runForge) Check(r *strict.Reader, n *strict.Node) {
	if (len(a.Files) == 0) == (a.Mirror == "") {
		r.Fail(n, "", "a forge has files, or the commits of a repository: one of the two")
	}
}

func (a runForge) apply(ctx context.Context, st *stage.Stage) error {
	st.Say("starting a Gitea; it is built the first time, which takes minutes")
	r, err := st.ServeForge(ctx, a.Owner, a.Name, a.People, a.Operator)
	if err != nil {
		return err
	}
	if a.Mirror != "" {
		from, err := gitRepository(st, a.Mirror)
		if err != nil {
			return err
		}
		_, by, err := st.Forge("admin")
		if err != nil {
			return err
		}
		if err := r.Mirror(ctx, by, from.Clone()); err != nil {
			return err
		}
	}
	_, first, err := st.Forge(a.People[0])
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(a.Files)) {
		if _, err := r.Commit(ctx, first, "main", "", name, a.Files[name], "add "+name); err != nil {
			return err
		}
	}
	f, err := st.ForgeServer()
	if err != nil {
		return err
	}
	return r.Protect(ctx, f.Admin, forge.Protection{Branch: "main", Approvals: a.Approvals, Checks: a.Checks})
}

// pushForge is the verb forge.push: a person pushes one file to a branch.
type pushForge struct {
	By     string `key:"by,required" as:"id"`
	Branch string `key:"branch,required" as:"id"`
	From   string `key:"from" as:"id"` // the branch that a new one begins at
	File   string `key:"file,required"`
	Text   string `key:"text"`              // "" for that of the module
	Says   string `key:"says,required"`     // message of the commit
	Pull   int    `key:"pull" range:"0 99"` // that the branch is of: wait until it has the commit
}

func (a pushForge) apply(ctx context.Context, st *stage.Stage) error {
	st.Say("%s pushes to %s: %s", a.By, a.Branch, a.Says)
	r, by, err := st.Forge(a.By)
	if err != nil {
		return err
	}
	text := a.Text
	if text == "" {
		raw, err := os.ReadFile(filepath.Join(st.Rec.Dir, filepath.Base(a.File)))
		if err != nil {
			return err
		}
		text = string(raw)
	}
	sha, err := r.Commit(ctx, by, a.Branch, a.From, a.File, text, a.Says)
	if err != nil || a.Pull == 0 {
		return err
	}
	return st.Wait(ctx, "the pull request did not come to the new commit", func() (bool, error) {
		head, err := r.PullHead(ctx, by, int64(a.Pull))
		return head == sha, err
	})
}

// pullForge is the verb forge.pull. The first pull request has the number 1.
type pullForge struct {
	By     string `key:"by,required" as:"id"`
	Branch string `key:"branch,required" as:"id"`
	Title  string `key:"title,required"`
}

func (a pullForge) apply(ctx context.Context, st *stage.Stage) error {
	st.Say("%s opens a pull request: %s", a.By, a.Title)
	r, by, err := st.Forge(a.By)
	if err != nil {
		return err
	}
	_, err = r.Pull(ctx, by, a.Branch, "main", a.Title)
	return err
}

// reviewForge is the verb forge.review: a review of the newest commit, which is saved as an export of the forge would be.
type reviewForge struct {
	By     string `key:"by,required" as:"id"`
	Pull   int    `key:"pull,required" range:"1 99"`
	Branch string `key:"branch,required" as:"id"`
	Says   string `key:"says,required" oneof:"APPROVED REQUEST_CHANGES COMMENT"`
	Text   string `key:"text,required"`
	Plan   string `key:"plan" as:"file name"` // whose digest stands behind the text
	Made   string `key:"made" as:"name"`      // instead of a file, the step of the incident that made the plan
	As     string `key:"as" as:"id"`          // name of the file that it is saved in
}

func (a reviewForge) apply(ctx context.Context, st *stage.Stage) error {
	st.Say("%s reviews the pull request: %s", a.By, cmp.Or(map[string]string{"APPROVED": "approved", "COMMENT": "a comment"}[a.Says], "asks for changes"))
	r, by, err := st.Forge(a.By)
	if err != nil {
		return err
	}
	head, err := r.Head(ctx, by, a.Branch)
	if err != nil {
		return err
	}
	text := a.Text
	if a.Plan != "" || a.Made != "" {
		file, err := a.planFile(st)
		if err != nil {
			return err
		}
		raw, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		sum := sha256.Sum256(raw)
		text += "\nplan sha256:" + hex.EncodeToString(sum[:])
	}
	id, err := r.Review(ctx, by, int64(a.Pull), a.Says, head, text)
	if err != nil {
		return err
	}
	if a.As == "" {
		return nil
	}
	saved, err := r.Export(ctx, by, int64(a.Pull), id)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(st.ForgeRecords(), a.As+".json"), append(saved, '\n'), 0o600)
}

// planFile is the plan that the review is of: one that the incident made, one of a job, or one of the module.
func (a reviewForge) planFile(st *stage.Stage) (string, error) {
	if a.Made != "" {
		return st.Fact(a.Made, "file")
	}
	file := filepath.Join(st.ForgeRecords(), a.Plan)
	if _, err := os.Stat(file); err == nil {
		return file, nil
	}
	return filepath.Join(st.Rec.Dir, a.Plan), nil
}

// expireForge is the verb forge.expire: the cleanup of the night comes, and takes an artifact away whose days are over.
type expireForge struct {
	Artifact string `key:"artifact,required" as:"id"`
}

// apply asks for the cleanup again while the second has not passed in which the artifact expires.
func (a expireForge) apply(ctx context.Context, st *stage.Stage) error {
	st.Say("the forge cleans up: the artifact %s expires", a.Artifact)
	f, err := st.ForgeServer()
	if err != nil {
		return err
	}
	r, by, err := st.Forge("admin")
	if err != nil {
		return err
	}
	return st.Wait(ctx, "the artifact did not expire", func() (bool, error) {
		if err := f.CleanUp(ctx); err != nil {
			return false, err
		}
		return r.Expired(ctx, by, a.Artifact)
	})
}

// mergeForge is the verb forge.merge.
type mergeForge struct {
	By   string `key:"by,required" as:"id"`
	Pull int    `key:"pull,required" range:"1 99"`
}

// apply asks again while Gitea still tests whether the branches can be merged.
func (a mergeForge) apply(ctx context.Context, st *stage.Stage) error {
	st.Say("%s merges pull request %d", a.By, a.Pull)
	r, by, err := st.Forge(a.By)
	if err != nil {
		return err
	}
	var last error
	err = st.Wait(ctx, fmt.Sprintf("pull request %d was not merged", a.Pull), func() (bool, error) {
		last = r.Merge(ctx, by, int64(a.Pull))
		return last == nil, nil
	})
	if err != nil && last != nil {
		return fmt.Errorf("%w: %w", err, last)
	}
	return err
}

// deliverForge is the verb forge.deliver: the Git server that the delivery reads takes over what the forge has.
type deliverForge struct {
	Repository string `key:"repository,required" as:"id"`
}

func (a deliverForge) apply(ctx context.Context, st *stage.Stage) error {
	st.Say("the Git server takes over what the forge has")
	to, err := gitRepository(st, a.Repository)
	if err != nil {
		return err
	}
	r, by, err := st.Forge("admin")
	if err != nil {
		return err
	}
	if err := r.Fetch(ctx, by, to.Clone()); err != nil {
		return err
	}
	sha, err := to.Push(ctx)
	if err != nil {
		return err
	}
	return awaitRefreshed(ctx, st, "compare with the new commit", func(a argoApp) bool { return a.Status.Sync.Revision == sha })
}

// updateForge is the verb forge.update: the base branch is merged into that of a pull request.
type updateForge struct {
	By   string `key:"by,required" as:"id"`
	Pull int    `key:"pull,required" range:"1 99"`
}

func (a updateForge) apply(ctx context.Context, st *stage.Stage) error {
	st.Say("%s brings the base into pull request %d", a.By, a.Pull)
	r, by, err := st.Forge(a.By)
	if err != nil {
		return err
	}
	before, err := r.PullHead(ctx, by, int64(a.Pull))
	if err != nil {
		return err
	}
	if err := r.Update(ctx, by, int64(a.Pull)); err != nil {
		return err
	}
	return st.Wait(ctx, "the pull request did not come to its base", func() (bool, error) {
		head, err := r.PullHead(ctx, by, int64(a.Pull))
		return head != before, err
	})
}

// jobForge is the verb forge.job: a runner takes the next job, runs tofu in the module, and reports what that says.
type jobForge struct {
	Tofu     string `key:"tofu,required" oneof:"validate fmt plan"`
	Program  string `key:"program" oneof:"terraform15"` // an older one that runs it in a checkout of its own, "" for that of the drill
	Fails    string `key:"fails"`                       // what it must say as it fails, "" for one that succeeds
	Plan     string `key:"plan" as:"file name"`         // among the records: tofu plan makes it, others find it
	Artifact string `key:"artifact" as:"id"`            // name that the job uploads that plan under
	Days     int    `key:"days" range:"0 90"`           // that the forge keeps it, 0 for the time until it cleans up
}

// Check wants the plan of an artifact.
func (a *jobForge) Check(r *strict.Reader, n *strict.Node) {
	if (a.Plan == "") != (a.Artifact == "") || a.Days > 0 && a.Artifact == "" {
		r.Fail(n, "", "a plan is uploaded as an artifact, for some days")
	}
}

func (a jobForge) apply(ctx context.Context, st *stage.Stage) error {
	st.Say("a runner takes the next job: tofu %s", a.Tofu)
	f, err := st.ForgeServer()
	if err != nil {
		return err
	}
	name, err := stage.RandomHex(3)
	if err != nil {
		return err
	}
	runner, err := f.Runner(ctx, "runner-"+name)
	if err != nil {
		return err
	}
	job, err := runner.Take(ctx)
	if err != nil {
		return err
	}
	file := filepath.Join(st.ForgeRecords(), a.Plan)
	out, failed := a.runs(ctx, st, file)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	switch {
	case failed == nil && a.Fails != "":
		return errors.New("the job succeeded, and the drill is about one that fails")
	case failed != nil && !bytes.Contains(bytes.Join(bytes.Fields(out), []byte(" ")), []byte(a.Fails)), failed != nil && a.Fails == "":
		return fmt.Errorf("the job failed otherwise than it should: %s", stage.Tail(out))
	}
	result, lines := "success", append([]string{"⭐ Run Main " + a.says()}, strings.Split(strings.TrimRight(string(out), "\n"), "\n")...)
	if failed != nil {
		result, lines = "failure", append(lines, "❌  Failure - Main "+a.says(), "exitcode '1': failure")
	}
	err = job.Step(ctx, result, lines...)
	if a.Plan != "" && err == nil {
		var raw []byte
		if raw, err = os.ReadFile(file); err == nil {
			err = job.Artifact(ctx, a.Artifact, raw, time.Now().AddDate(0, 0, a.Days).Add(time.Hour)) // Gitea counts whole days
		}
	}
	return errors.Join(err, job.End(ctx, result))
}

// says is the command as a workflow has it.
func (a jobForge) says() string {
	if a.Program != "" {
		return "terraform " + a.Tofu
	}
	return "tofu " + a.Tofu
}

// runs runs the program, which prints its version first: the log of a job tells it.
func (a jobForge) runs(ctx context.Context, st *stage.Stage, file string) ([]byte, error) {
	args := map[string][]string{"validate": {"validate", "-no-color"}, "fmt": {"fmt", "-check", "-no-color"}, "plan": {"plan", "-input=false", "-no-color", "-lock=false"}}[a.Tofu]
	if a.Plan != "" && a.Tofu == "plan" {
		args = append(args, "-out="+file)
	}
	env := st.RobotEnviron()
	if a.Program != "" {
		dir, err := st.Checkout()
		if err != nil {
			return nil, err
		}
		defer os.RemoveAll(dir)
		program, err := st.World.Terraform15(ctx)
		if err != nil {
			return nil, err
		}
		there := *st
		there.Tofu, there.Rec.Dir = program, dir
		st, env = &there, append(env, "TF_DATA_DIR="+filepath.Join(dir, ".terraform"))
	}
	if a.Program != "" && a.Tofu == "plan" {
		if out, err := st.TryInit(ctx, st.Rec.Namespace.RobotKubeconfig, env); err != nil {
			return out, err
		}
	}
	version, err := st.Run(ctx, env, "version")
	if err != nil {
		return version, err
	}
	out, err := st.Run(ctx, env, args...)
	return append(version, out...), err
}
