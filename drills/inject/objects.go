package inject

import (
	"fmt"
	"slices"
	"strings"

	"handrail/drills/stage"
	"handrail/steps/strict"
)

// objectKind is a kind of object that a drill may make. The table is closed:
// nothing that reaches beyond the namespace, or gives rights that robot has not.
type objectKind struct {
	apiVersion, kind, plural string
}

func objectKinds() []objectKind {
	return []objectKind{
		{"v1", "ConfigMap", "configmaps"},
		{"v1", "Service", "services"},
		{"apps/v1", "Deployment", "deployments"},
		{"batch/v1", "Job", "jobs"},
		{"batch/v1", "CronJob", "cronjobs"},
		{"v1", "ServiceAccount", "serviceaccounts"},
		{"v1", "ResourceQuota", "resourcequotas"},
		{"v1", "PersistentVolumeClaim", "persistentvolumeclaims"},
		{"networking.k8s.io/v1", "NetworkPolicy", "networkpolicies"},
		{"rbac.authorization.k8s.io/v1", "Role", "roles"}, // the server lets robot give no more than it has
		{"rbac.authorization.k8s.io/v1", "RoleBinding", "rolebindings"},
	}
}

// path is the address of one object, or of the collection with name "".
func (k objectKind) path(namespace, name string) string {
	prefix := "/apis/"
	if k.apiVersion == "v1" {
		prefix = "/api/"
	}
	p := prefix + k.apiVersion + "/namespaces/" + namespace + "/" + k.plural
	if name != "" {
		p += "/" + name
	}
	return p
}

// group is the API group, "" for the core.
func (k objectKind) group() string {
	group, _, named := strings.Cut(k.apiVersion, "/")
	if !named {
		return ""
	}
	return group
}

// resource reads the plural of a kind.
func resource(r *strict.Reader, n *strict.Node, what string) any {
	var plurals []string
	for _, k := range objectKinds() {
		plurals = append(plurals, k.plural)
	}
	i := slices.Index(plurals, r.OneOf(n, what, plurals))
	if i < 0 {
		return nil
	}
	return objectKinds()[i]
}

// manifest is one object as a file of the drill has it.
type manifest struct {
	objectKind
	name       string
	finalizers []string
	body       map[string]any
}

// manifests reads the objects of a file beside the drill: documents of kinds
// that a drill may make, each without a namespace, since they go into the
// drill's own and nowhere else.
func manifests(r *strict.Reader, n *strict.Node, what string) any {
	file, src, ok := r.Beside(n, what)
	if !ok {
		return nil
	}
	in := &strict.Reader{File: file, What: "an object", Forms: r.Forms}
	var out []manifest
	lines := 0
	for _, doc := range strings.Split(string(src), "\n---\n") {
		// Empty lines before it keep the places of problems those of the file.
		if root := in.Document([]byte(strings.Repeat("\n", lines) + doc)); root != nil {
			m := readManifest(in, root)
			if slices.ContainsFunc(out, func(o manifest) bool { return o.objectKind == m.objectKind && o.name == m.name }) {
				in.Fail(root, "", "%s %q again", m.kind, m.name)
			}
			out = append(out, m)
		}
		lines += strings.Count(doc, "\n") + 2
	}
	for _, problem := range in.Problems {
		if !slices.Contains(r.Problems, problem) { // of a file that several injections name
			r.Problems = append(r.Problems, problem)
		}
	}
	return out
}

func readManifest(r *strict.Reader, root *strict.Node) manifest {
	var f struct {
		Version  string `key:"apiVersion,required"`
		Kind     string `key:"kind,required"`
		Metadata struct {
			Name       string   `key:"name,required" as:"id"`
			Finalizers []string `key:"finalizers" of:"a finalizer"`
			Labels     any      `key:"labels" as:"json"`
			Notes      any      `key:"annotations" as:"json"`
		} `key:"metadata,required"`
	}
	r.Struct(root, "an object", &f, "spec", "data", "rules", "roleRef", "subjects")
	i := slices.IndexFunc(objectKinds(), func(k objectKind) bool { return k.apiVersion == f.Version && k.kind == f.Kind })
	if i < 0 {
		r.Fail(root, "", "a drill makes no %s of %s", f.Kind, f.Version)
		return manifest{}
	}
	m := manifest{objectKind: objectKinds()[i], name: f.Metadata.Name, finalizers: f.Metadata.Finalizers}
	if err := root.Decode(&m.body); err != nil {
		r.Fail(root, "", "%v", err)
	}
	return m
}

// holds says what of an object keeps its namespace from going.
func (m manifest) holds(namespace string) stage.HeldObject {
	return stage.HeldObject{Path: m.path(namespace, m.name), Finalizers: m.finalizers}
}

func (m manifest) String() string { return fmt.Sprintf("%s/%s", strings.ToLower(m.kind), m.name) }
