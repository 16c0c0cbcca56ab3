package lab

import (
	"context"
	"encoding/json"
	"path/filepath"
)

// writersProgram plays those who write into a cluster in a drill: a webhook, a
// node, a loop. lab/writers says how.
func writersProgram() Part {
	return Part{Name: "writers", Program: "handrail-writers", module: filepath.Join("lab", "writers"), target: ".", ldflags: "-s -w"}
}

// Writers returns the path of that program, building it when it is missing:
// seconds, once.
func (l *Lab) Writers(ctx context.Context) (string, error) {
	o, err := Options{}.filled()
	if err != nil {
		return "", err
	}
	return o.ensure(ctx, writersProgram())
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
