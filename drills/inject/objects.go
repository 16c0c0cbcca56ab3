package inject

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

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

func (p Parser) resource(n *yaml.Node) objectKind {
	var plurals []string
	for _, k := range objectKinds() {
		plurals = append(plurals, k.plural)
	}
	i := slices.Index(plurals, p.OneOf(n, "resource", plurals))
	if i < 0 {
		return objectKind{}
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
func (p Parser) manifests(n *yaml.Node) []manifest {
	name := p.Text(n, "file")
	if name == "" {
		return nil
	}
	file := path.Join(path.Dir(p.File), path.Base(name))
	src, err := fs.ReadFile(p.Files, file)
	if err != nil {
		p.Fail(n, "the file stands beside the drill", "file %q cannot be read: %v", name, err)
		return nil
	}
	in := Parser{Reader: &strict.Reader{File: file, What: "an object"}}
	var out []manifest
	lines := 0
	for _, doc := range strings.Split(string(src), "\n---\n") {
		// Empty lines before it keep the places of problems those of the file.
		if root := in.Document([]byte(strings.Repeat("\n", lines) + doc)); root != nil {
			m := in.manifest(root)
			if slices.ContainsFunc(out, func(o manifest) bool { return o.objectKind == m.objectKind && o.name == m.name }) {
				in.Fail(root, "", "%s %q again", m.kind, m.name)
			}
			out = append(out, m)
		}
		lines += strings.Count(doc, "\n") + 2
	}
	for _, problem := range in.Problems {
		if !slices.Contains(p.Problems, problem) { // of a file that several injections name
			p.Problems = append(p.Problems, problem)
		}
	}
	return out
}

func (p Parser) manifest(root *yaml.Node) manifest {
	f := p.Fields(root, "an object", "apiVersion", "kind", "metadata", "spec", "data", "rules", "roleRef", "subjects")
	version, kind := p.Text(p.Need(root, f, "apiVersion"), "apiVersion"), p.Text(p.Need(root, f, "kind"), "kind")
	i := slices.IndexFunc(objectKinds(), func(k objectKind) bool { return k.apiVersion == version && k.kind == kind })
	if i < 0 {
		p.Fail(root, "", "a drill makes no %s of %s", kind, version)
		return manifest{}
	}
	m := manifest{objectKind: objectKinds()[i]}
	meta := p.Need(root, f, "metadata")
	if meta == nil {
		return m
	}
	g := p.Fields(meta, "metadata", "name", "labels", "annotations", "finalizers")
	m.name = p.Form(p.Need(meta, g, "name"), "name", IDForm)
	for _, item := range p.Items(g["finalizers"], "finalizers") {
		m.finalizers = append(m.finalizers, p.Text(item, "a finalizer"))
	}
	if err := root.Decode(&m.body); err != nil {
		p.Fail(root, "", "%v", err)
	}
	return m
}

// holds says what of an object keeps its namespace from going.
func (m manifest) holds(namespace string) stage.HeldObject {
	return stage.HeldObject{Path: m.path(namespace, m.name), Finalizers: m.finalizers}
}

func (m manifest) String() string { return fmt.Sprintf("%s/%s", strings.ToLower(m.kind), m.name) }
