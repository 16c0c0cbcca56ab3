package forge

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"handrail/drills/lab"
)

// Forge is a Gitea that runs.
type Forge struct {
	URL   string // http://127.0.0.1:PORT
	Admin *User  // may do everything

	server *lab.Server // nil where the caller runs it
}

// Start builds Gitea if need be (minutes, once), starts it with its data in dir, and returns when it answers.
func Start(ctx context.Context, o lab.Options, dir string) (*Forge, error) {
	s, err := lab.StartService(ctx, o, "gitea", dir)
	if err != nil {
		return nil, err
	}
	f, err := Begin(ctx, s.Env, s.URL)
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	f.server = s
	return f, nil
}

// Begin signs the administrator in at a Gitea that the caller started, as [lab.Lab.Process] says and tells, and that answers at a URL.
func Begin(ctx context.Context, tell []string, at string) (*Forge, error) {
	f := &Forge{URL: at}
	f.Admin = &User{Name: lab.GiteaAdmin, forge: f}
	for _, line := range tell {
		if word, ok := strings.CutPrefix(line, "GITEA_ADMIN_PASSWORD="); ok {
			f.Admin.password = word
		}
	}
	var err error
	if f.Admin.Token, err = f.Admin.NewToken(ctx, "all"); err != nil {
		return nil, fmt.Errorf("signing the administrator of the forge in: %w", err)
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
