package lab

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
)

// ContextName is the context of the admin kubeconfig; that of a namespace is ContextName, a hyphen and its name.
const ContextName = "handrail-lab"

// kubeconfig is one cluster, one user and one context, all of the same name, and where a copy of the cluster is to be
// reached too, a second context with a cluster of its own.
type kubeconfig struct {
	server, token, name string
	caFile              string // until the server has written its certificate
	ca                  []byte // afterwards: then the file stands alone
	namespace           string
	copyURL             string // of the copy, "" for none
}

func (k kubeconfig) copyName() string { return k.name + "-replica" }

// bytes writes the YAML by hand: every value is ours or quoted, and a YAML library would be the package's only one.
func (k kubeconfig) bytes() []byte {
	ca := fmt.Sprintf("certificate-authority: %q", k.caFile)
	if len(k.ca) > 0 {
		ca = "certificate-authority-data: " + base64.StdEncoding.EncodeToString(k.ca)
	}
	leads := [][2]string{{k.name, k.server}}
	if k.copyURL != "" {
		leads = append(leads, [2]string{k.copyName(), k.copyURL})
	}
	var b strings.Builder
	fmt.Fprintf(&b, "apiVersion: v1\nkind: Config\ncurrent-context: %q\nclusters:\n", k.name)
	for _, to := range leads {
		fmt.Fprintf(&b, "- name: %q\n  cluster:\n    server: %q\n    %s\n", to[0], to[1], ca)
	}
	fmt.Fprintf(&b, "users:\n- name: %q\n  user:\n    token: %q\ncontexts:\n", k.name, k.token)
	for _, to := range leads {
		fmt.Fprintf(&b, "- name: %q\n  context:\n    cluster: %q\n    user: %q\n", to[0], to[0], k.name)
		if k.namespace != "" {
			fmt.Fprintf(&b, "    namespace: %q\n", k.namespace)
		}
	}
	return []byte(b.String())
}

// json is the same file as that of an account of a namespace, as JSON:
// the program that reads it has no library for YAML.
func (k kubeconfig) json() ([]byte, error) {
	list := func(key string, value object) []object { return []object{{"name": k.name, key: value}} }
	return json.MarshalIndent(object{
		"apiVersion": "v1", "kind": "Config", "current-context": k.name,
		"clusters": list("cluster", object{"server": k.server, "certificate-authority-data": k.ca}),
		"users":    list("user", object{"token": k.token}),
		"contexts": list("context", object{"cluster": k.name, "user": k.name, "namespace": k.namespace}),
	}, "", "  ")
}
