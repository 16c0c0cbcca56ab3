package inject

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"handrail/drills/stage"
	"handrail/steps/strict"
)

// upgrade is the verb helm.upgrade: a run of the real helm that installs or upgrades a
// release from a chart of one template. What it says is in
// helm.log of the drill.
type upgrade struct {
	Release  string        `key:"release,required" as:"id"`
	Template []byte        `key:"file,required" as:"file"`
	Timeout  time.Duration `key:"timeout"` // waits so long for its workloads; zero does not
	Resource string        `key:"resource" as:"writable"`
	Name     string        `key:"name" as:"id"`
	Refused  bool          `key:"refused"`
}

// Check wants both halves of the object at which helm is killed, and a helm that waits then.
func (u *upgrade) Check(r *strict.Reader, n *strict.Node) {
	if (u.Resource == "") != (u.Name == "") {
		r.Fail(n, "name both", "an object has a resource and a name")
	}
	if u.Name != "" && u.Timeout == 0 {
		r.Fail(n, "", "timeout is missing: a helm that does not wait ends before it is killed")
	}
}

func (u upgrade) apply(ctx context.Context, st *stage.Stage) error {
	if st.World == nil {
		return errors.New("this drill has no lab")
	}
	st.Say("helm upgrade %s", u.Release)
	program, err := st.World.Controller(ctx, "helm", nil)
	if err != nil {
		return err
	}
	chart, err := u.chart(st)
	if err != nil {
		return err
	}
	args := []string{"upgrade", "--install", u.Release, chart, "--namespace", st.Rec.Namespace.Name}
	if u.Timeout > 0 {
		args = append(args, "--wait", "--timeout", u.Timeout.String())
	}
	log, err := os.OpenFile(filepath.Join(st.Home, "helm.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("log of helm: %w", err)
	}
	defer func() { _ = log.Close() }()
	if _, err := fmt.Fprintf(log, "$ helm %s\n", strings.Join(append(args[:3:3], "./chart"), " ")+" "+strings.Join(args[4:], " ")); err != nil {
		return err
	}
	var said bytes.Buffer
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = st.Home, u.environ(st), log, log
	if u.Name == "" {
		cmd.Stdout, cmd.Stderr = &said, &said
		return u.ended(cmd.Run(), said.Bytes(), log)
	}
	return u.killed(ctx, st, cmd)
}

// ended judges a run that came to its end, and keeps what it said.
func (u upgrade) ended(err error, said []byte, log *os.File) error {
	if _, err := log.Write(said); err != nil {
		return err
	}
	if (err != nil) != u.Refused {
		return fmt.Errorf("helm upgrade %s: error %v, refused as the drill wants: %t: %s", u.Release, err, u.Refused, stage.Tail(said))
	}
	return nil
}

// killed starts helm, kills it once it has written the object, and waits for as long as
// helm would have waited: a record that is too young is left alone.
func (u upgrade) killed(ctx context.Context, st *stage.Stage, cmd *exec.Cmd) error {
	path := PathOfObject(Writable()[u.Resource], u.Resource, st.Rec.Namespace.Name, u.Name)
	generation := func() (int64, error) {
		var o struct{ Metadata struct{ Generation int64 } }
		err := st.Robot.Get(ctx, path, &o)
		if stage.HasCode(err, http.StatusNotFound) {
			return 0, nil
		}
		return o.Metadata.Generation, err
	}
	before, err := generation()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	err = st.Wait(ctx, fmt.Sprintf("helm did not write %s/%s", u.Resource, u.Name), func() (bool, error) {
		now, err := generation()
		return now > before, err
	})
	err = errors.Join(err, cmd.Process.Kill())
	_ = cmd.Wait() // it says that it was killed
	if err != nil {
		return err
	}
	killed := time.Now()
	return st.Wait(ctx, "the time of helm did not pass", func() (bool, error) { return time.Since(killed) > u.Timeout+time.Second, nil })
}

// chart writes the chart of the release.
func (u upgrade) chart(st *stage.Stage) (string, error) {
	dir := filepath.Join(st.Home, "chart")
	if err := os.MkdirAll(filepath.Join(dir, "templates"), 0o700); err != nil {
		return "", err
	}
	about := fmt.Sprintf("apiVersion: v2\nname: %s\nversion: 0.1.0\n", u.Release)
	return dir, errors.Join(os.WriteFile(filepath.Join(dir, "Chart.yaml"), []byte(about), 0o600),
		os.WriteFile(filepath.Join(dir, "templates", "all.yaml"), u.Template, 0o600))
}

// environ is all that helm sees.
func (u upgrade) environ(st *stage.Stage) []string {
	at := filepath.Join(st.Home, "helm")
	return append(st.RobotEnviron(), "HELM_CACHE_HOME="+at, "HELM_CONFIG_HOME="+at, "HELM_DATA_HOME="+at)
}
