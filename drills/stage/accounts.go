package stage

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"

	"handrail/drills/lab"
)

// RandomHex is so many random bytes in hex.
func RandomHex(n int) (string, error) {
	b := make([]byte, n)
	if _, err := rand.Read(b); err != nil {
		return "", err
	}
	return hex.EncodeToString(b), nil
}

// Account returns the kubeconfig of an account that the drill has made.
func (st *Stage) Account(name string) (string, error) {
	path, ok := st.Rec.Accounts[name]
	if !ok {
		return "", fmt.Errorf("the drill has no account %q: begin with kube.account", name)
	}
	return path, nil
}

// Admit makes an account of the drill.
func (st *Stage) Admit(ctx context.Context, name string, inside, wide []lab.Rule) error {
	if name != NameRobot && name != NameOperator && st.Rec.Accounts[name] == "" {
		_, file, err := st.World.Account(ctx, st.Rec.Namespace.Name, name)
		if err != nil {
			return err
		}
		if st.Rec.Accounts == nil {
			st.Rec.Accounts = map[string]string{}
		}
		st.Rec.Accounts[name] = file
		if err := st.Save(); err != nil {
			return err
		}
	}
	for _, grant := range []struct {
		wide  bool
		rules []lab.Rule
	}{{false, inside}, {true, wide}} {
		if len(grant.rules) == 0 {
			continue
		}
		title, err := RandomHex(3) // several grants to one account
		if err != nil {
			return err
		}
		if err := st.World.Allow(ctx, st.Rec.Namespace.Name, name, title, grant.wide, grant.rules); err != nil {
			return err
		}
	}
	return nil
}
