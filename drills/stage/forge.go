package stage

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"handrail/drills/lab"
	"handrail/drills/lab/forge"
)

// forgeAdmin is the file with the token of the administrator.
const forgeAdmin = "admin"

// What a token of robot and operator may do.
const (
	forgeReads  = "read:repository"
	forgeWrites = "write:repository"
)

func (st *Stage) forgeDir() string { return filepath.Join(st.Home, "forge") }

func (st *Stage) forgeTokens() string { return filepath.Join(st.forgeDir(), "tokens") }

// ForgeRecords is where people save what the forge answered.
func (st *Stage) ForgeRecords() string { return filepath.Join(st.Home, "records") }

// ServeForge starts a Gitea in a session of its own and gives it a repository, OWNER/NAME, that each of people may write to, and
// robot may read. What the operator may do is said, and "" is to read.
func (st *Stage) ServeForge(ctx context.Context, owner, name string, people []string, operator string) (*forge.Repo, error) {
	if st.World == nil {
		return nil, errors.New("this drill has no lab")
	}
	data := filepath.Join(st.forgeDir(), "data")
	for _, dir := range []string{data, st.forgeTokens(), st.ForgeRecords()} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, err
		}
	}
	ports, err := lab.LastingPorts(1)
	if err != nil {
		return nil, err
	}
	addr := fmt.Sprintf("127.0.0.1:%d", ports[0])
	p, tell, err := st.World.Process(ctx, "gitea", data, addr)
	if err != nil {
		return nil, err
	}
	if err := st.Attend(ctx, p); err != nil {
		return nil, err
	}
	f, err := forge.Begin(ctx, tell, "http://"+addr)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(f.Admin.Org(ctx, owner), st.keepForgeToken(forgeAdmin, f.Admin.Token)); err != nil {
		return nil, err
	}
	r, err := f.Admin.Repository(ctx, owner, name)
	if err != nil {
		return nil, err
	}
	rights := map[string]string{NameRobot: "read", NameOperator: cmp.Or(operator, "read")}
	for _, who := range people {
		rights[who] = "write"
	}
	for _, who := range slices.Sorted(maps.Keys(rights)) {
		u, err := f.User(ctx, who)
		if err != nil {
			return nil, err
		}
		token := u.Token
		switch {
		case rights[who] == "read":
			token, err = u.NewToken(ctx, forgeReads)
		case who == NameOperator:
			token, err = u.NewToken(ctx, forgeWrites)
		}
		if err != nil {
			return nil, err
		}
		if err := errors.Join(r.Share(ctx, f.Admin, who, rights[who]), st.keepForgeToken(who, token)); err != nil {
			return nil, err
		}
	}
	st.Rec.Forge = &ForgeRecord{URL: f.URL, Owner: owner, Name: name}
	return r, st.Save()
}

func (st *Stage) keepForgeToken(who, token string) error {
	return os.WriteFile(filepath.Join(st.forgeTokens(), who), []byte(token), 0o600)
}

// Forge is the repository of the drill, and one of its accounts.
func (st *Stage) Forge(who string) (*forge.Repo, *forge.User, error) {
	if st.Rec.Forge == nil {
		return nil, nil, errors.New("this drill has no forge: begin with forge.run")
	}
	token, err := os.ReadFile(filepath.Join(st.forgeTokens(), who))
	if err != nil {
		return nil, nil, fmt.Errorf("account %s of the forge: %w", who, err)
	}
	f := forge.At(st.Rec.Forge.URL)
	return f.Open(st.Rec.Forge.Owner, st.Rec.Forge.Name), f.As(who, string(token)), nil
}

// ForgeServer is the Gitea of the drill, with its administrator.
func (st *Stage) ForgeServer() (*forge.Forge, error) {
	_, u, err := st.Forge(forgeAdmin)
	if err != nil {
		return nil, err
	}
	f := forge.At(st.Rec.Forge.URL)
	f.Admin = f.As(u.Name, u.Token)
	return f, nil
}

// forgeEnviron is by what a caller reads the forge, nothing where there is none.
func (st *Stage) forgeEnviron(who string) []string {
	if st.Rec.Forge == nil {
		return nil
	}
	token, err := os.ReadFile(filepath.Join(st.forgeTokens(), who))
	if err != nil {
		return nil // then it refuses, and says so
	}
	return []string{"GITEA_SERVER_URL=" + st.Rec.Forge.URL, "GITEA_TOKEN=" + string(token)}
}

// ForgeSecrets are the tokens of its accounts.
func (st *Stage) ForgeSecrets() ([]string, error) {
	files, err := os.ReadDir(st.forgeTokens())
	if err != nil {
		return nil, err
	}
	var out []string
	for _, f := range files {
		token, err := os.ReadFile(filepath.Join(st.forgeTokens(), f.Name()))
		if err != nil {
			return nil, err
		}
		out = append(out, string(token))
	}
	return out, nil
}

// Checkout is a new directory with the files of the module, as the runner of a job has them, and nothing that a program left there.
func (st *Stage) Checkout() (string, error) {
	entries, err := os.ReadDir(st.Rec.Dir)
	if err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp(st.Home, "checkout-")
	if err != nil {
		return "", err
	}
	for _, e := range entries {
		if !e.Type().IsRegular() || filepath.Ext(e.Name()) != ".tf" {
			continue
		}
		raw, err := os.ReadFile(filepath.Join(st.Rec.Dir, e.Name()))
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, e.Name()), raw, 0o600)
		}
		if err != nil {
			return "", errors.Join(err, os.RemoveAll(dir))
		}
	}
	return dir, nil
}

// foreignForge reports whether a variable of the trainee's environment leads to a forge of their own.
func foreignForge(key string) bool {
	return key == "HANDRAIL_FORGE" || key == "GH_TOKEN" || key == "CI_SERVER_URL" ||
		slices.ContainsFunc([]string{"GITEA_", "GITHUB_", "GITLAB_"}, func(p string) bool { return strings.HasPrefix(key, p) })
}
