package session_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// A token that only a credential plugin knows is a known secret before the
// first answer comes: an object that repeats it is stored without it.
func TestTokensOfPluginsAreKnown(t *testing.T) {
	if testing.Short() {
		t.Skip("too long for -short")
	}
	t.Parallel()
	st, a, collection := onLab(t, "configmaps", "notes", `{"metadata":{"name":"notes"},"data":{"a":"b"}}`)
	token := st.plugin(t)
	code, made := a.send("PUT", collection+"/notes", fmt.Sprintf(`{"metadata":{"name":"notes"},"data":{"seen":%q}}`, "x-"+token+"-y"))
	if code != 200 {
		t.Fatalf("writing the token into an object: %d %v", code, made)
	}
	var mu sync.Mutex
	learned := map[string]bool{}
	st.cfg.Learned = func(v string) {
		mu.Lock()
		defer mu.Unlock()
		learned[v] = true
	}
	st.key(t) // the copy of such an object is no plain one
	var bundle string
	deleted(t, st, &bundle)
	mu.Lock()
	defer mu.Unlock()
	if !learned[token] {
		t.Error("the token was not handed over")
	}
	if runs, err := os.ReadFile(filepath.Join(st.cfg.Env.Home, "runs")); err != nil || len(runs) == 0 {
		t.Errorf("the plugin did not run: %v", err)
	}
	clean(t, filepath.Dir(st.cfg.Dir), token, token[len(token)-40:])
}

// plugin puts a credential plugin in the place of the operator's token.
func (st *stage) plugin(t *testing.T) (token string) {
	t.Helper()
	cfg, err := clientcmd.LoadFromFile(st.cfg.Env.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	user := cfg.AuthInfos[cfg.Contexts[cfg.CurrentContext].AuthInfo]
	token = user.Token
	answer, err := json.Marshal(map[string]any{"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": map[string]string{"token": token}})
	if err != nil || token == "" {
		t.Fatalf("token of %d bytes, %v", len(token), err)
	}
	home := st.cfg.Env.Home
	script := fmt.Sprintf("#!/bin/sh\necho run >> %s/runs\ncat %s/answer.json\n", home, home)
	for name, text := range map[string]string{"answer.json": string(answer), "plugin": script} {
		if err := os.WriteFile(filepath.Join(home, name), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	user.Token = ""
	user.Exec = &clientcmdapi.ExecConfig{APIVersion: "client.authentication.k8s.io/v1", Command: filepath.Join(home, "plugin"), InteractiveMode: clientcmdapi.NeverExecInteractiveMode}
	st.cfg.Env.Kubeconfig = filepath.Join(home, "kubeconfig")
	if err := clientcmd.WriteToFile(*cfg, st.cfg.Env.Kubeconfig); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(st.cfg.Env.Kubeconfig); err != nil || strings.Contains(string(b), token) {
		t.Fatalf("the kubeconfig still holds the token, %v", err)
	}
	return token
}
