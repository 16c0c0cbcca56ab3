package forge

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"time"

	"handrail/drills/lab"
)

// Forge is a Gitea that runs.
type Forge struct {
	URL   string // http://127.0.0.1:PORT
	Admin *User  // may do everything

	server  *lab.Server // nil where the caller runs it
	program string
	dir     string // of its data
	config  string
}

// Start builds Gitea if need be (minutes, once), starts it with its data in dir, and returns when it answers.
func Start(ctx context.Context, o lab.Options, dir string) (*Forge, error) {
	program, err := lab.Service(ctx, o, "gitea")
	if err != nil {
		return nil, err
	}
	s, err := lab.StartService(ctx, o, "gitea", dir)
	if err != nil {
		return nil, err
	}
	f, err := Begin(ctx, lab.Process{Program: program, Dir: dir}, s.Env, s.URL)
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	f.server = s
	return f, nil
}

// Begin makes the administrator of a Gitea that the caller started, as [lab.Lab.Process] says, and that answers at a URL.
func Begin(ctx context.Context, p lab.Process, tell []string, at string) (*Forge, error) {
	f := &Forge{URL: at, program: p.Program, dir: p.Dir}
	for _, line := range tell {
		if word, ok := strings.CutPrefix(line, "GITEA_CONFIG="); ok {
			f.config = word
		}
	}
	var err error
	if f.Admin, err = f.admin(ctx); err != nil {
		return nil, fmt.Errorf("making the administrator of the forge: %w", err)
	}
	return f, nil
}

// At is a Gitea that another process made the accounts of. It has no Admin; [Forge.As] gives an account.
func At(at string) *Forge { return &Forge{URL: at} }

// As is an account by the token that it was given.
func (f *Forge) As(name, token string) *User { return &User{Name: name, Token: token, forge: f} }

// Open is a repository that is there.
func (f *Forge) Open(owner, name string) *Repo { return &Repo{Owner: owner, Name: name, forge: f} }

// Close ends the server.
func (f *Forge) Close() error { return f.server.Close() }

// PID is its process.
func (f *Forge) PID() int { return f.server.PID() }

// Log is the path of what it says.
func (f *Forge) Log() string { return f.server.Log() }

// admin makes the account that makes all others. Only the program can: the API wants an administrator.
func (f *Forge) admin(ctx context.Context) (*User, error) {
	const name = "lab-admin"
	if _, err := f.run(ctx, "admin", "user", "create", "--admin", "--username", name, "--email", name+"@lab.invalid", "--password", word(), "--must-change-password=false"); err != nil {
		return nil, err
	}
	out, err := f.run(ctx, "admin", "user", "generate-access-token", "--username", name, "--token-name", "lab", "--scopes", "all", "--raw")
	if err != nil {
		return nil, err
	}
	lines := strings.Fields(out)
	if len(lines) == 0 {
		return nil, errors.New("gitea printed no token")
	}
	u := &User{Name: name, Token: lines[len(lines)-1], forge: f}
	return u, u.known(ctx)
}

// knownWithin is for a machine under load; knownAsk is how long one question may take, since a server that waits for its database
// now and then never answers.
const (
	knownWithin = 5 * time.Minute
	knownAsk    = 15 * time.Second
)

// known waits until the server knows an account that another process wrote into its database: a busy machine has it answer 401 once
// more.
func (u *User) known(ctx context.Context) error {
	ctx, stop := context.WithTimeout(ctx, knownWithin)
	defer stop()
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	ask := func() error {
		ctx, stop := context.WithTimeout(ctx, knownAsk)
		defer stop()
		return u.do(ctx, get, "/user", nil, nil)
	}
	for {
		err := ask()
		if no := (*RefusedError)(nil); err == nil || !errors.Is(err, context.DeadlineExceeded) && (!errors.As(err, &no) || no.Status != http.StatusUnauthorized) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-tick.C:
		}
	}
}

// run runs the program beside the server, on the same database.
func (f *Forge) run(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, f.program, append([]string{"--config", f.config}, args...)...)
	dir := f.dir
	cmd.Dir = dir
	cmd.Env = append(lab.GoEnv(), "HOME="+dir, "TMPDIR="+dir, "GITEA_WORK_DIR="+dir, "PATH="+os.Getenv("PATH"))
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("gitea %s %s: %w: %s", args[0], args[1], err, bytes.TrimSpace(append(said.Bytes(), out...)))
	}
	return string(out), nil
}

// User makes an account with a token that may do all that the account may.
func (f *Forge) User(ctx context.Context, name string) (*User, error) {
	password := word()
	err := f.Admin.do(ctx, post, "/admin/users", object{"username": name, "email": name + "@lab.invalid", "password": password, "must_change_password": false}, nil)
	if err != nil {
		return nil, err
	}
	u := &User{Name: name, password: password, forge: f}
	u.Token, err = u.NewToken(ctx, "all")
	return u, err
}

// word is a password that no one has to remember.
func word() string {
	b := make([]byte, 20)
	_, _ = rand.Read(b) // it never fails
	return hex.EncodeToString(b)
}
