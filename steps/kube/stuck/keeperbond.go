package stuck

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/kube/blame"
	"handrail/steps/kube/object"
	"handrail/steps/kube/owner"
)

// keeperEvidence is the evidence in the cluster that a program keeps one finalizer. That a
// person names a workload is none: the name may be another's, or mistyped.
type keeperEvidence struct {
	finalizer string
	writers   []string         // who wrote it by managedFields, without what only says which tool was used
	served    []webhookService // Services that the server calls for the API of the object
	release   string           // Helm release that brought that API, as namespace/name
	granted   []string         // accounts that roles let write objects of that API, by name, as namespace/name
	api       string           // the group, where a definition of the cluster serves it
	led       []string         // who holds or held a Lease that is called after the finalizer or that API
}

// webhookService is a Service that a webhook of the API leads to.
type webhookService struct {
	namespace string
	selector  map[string]string
	what      string
}

// ties says what binds a workload, or a bare Pod, to the finalizer.
func (b keeperEvidence) ties(o cluster.Object) []string {
	pod, labels := templateOf(o)
	names := append([]string{o.GetName(), o.GetLabels()[owner.LabelApp], o.GetLabels()["app"]}, programs(pod)...)
	var out []string
	for _, w := range b.writers {
		if slices.Contains(names, w) {
			out = append(out, fmt.Sprintf("%q wrote the finalizer, by managedFields", steps.Clip(w, 128)))
		}
	}
	if saysWord(pod, b.finalizer) {
		out = append(out, "its containers are told the finalizer by name")
	}
	for _, s := range b.served {
		if s.namespace == o.GetNamespace() && selects(s.selector, labels) {
			out = append(out, "it answers "+s.what)
		}
	}
	if r := releaseOf(o); r != "" && r == b.release {
		out = append(out, "the Helm release "+steps.Clip(r, 128)+" brought it and the API of the object")
	}
	if account := accountOf(o.GetNamespace(), pod); slices.Contains(b.granted, account) {
		out = append(out, fmt.Sprintf("its account %s may write objects of %s, by name", steps.Clip(account, 128), b.api))
	}
	for _, holder := range b.led {
		if named(holder, o.GetName()) {
			out = append(out, fmt.Sprintf("%s held the Lease of that name or API", steps.Clip(holder, 128)))
			break
		}
	}
	return out
}

// templateOf is the Pod that an object makes, or is, and its labels.
func templateOf(o cluster.Object) (spec map[string]any, labels map[string]string) {
	for _, at := range [][]string{{"spec", "template"}, {"spec", "jobTemplate", "spec", "template"}} {
		m, there, err := unstructured.NestedMap(o.Object, at...)
		if err == nil && there {
			spec, _ = m["spec"].(map[string]any)
			meta, _ := m["metadata"].(map[string]any)
			return spec, object.Texts(meta["labels"])
		}
	}
	spec, _, _ = unstructured.NestedMap(o.Object, "spec")
	return spec, o.GetLabels()
}

func containersOf(pod map[string]any) []map[string]any {
	var out []map[string]any
	for _, list := range []string{"containers", "initContainers"} {
		items, _ := pod[list].([]any)
		for _, item := range items {
			if m, is := item.(map[string]any); is {
				out = append(out, m)
			}
		}
	}
	return out
}

// programs are the names by which the containers of a Pod may call themselves to
// the API server: the field manager is the program's own name.
func programs(pod map[string]any) []string {
	var out []string
	for _, c := range containersOf(pod) {
		name, _ := c["name"].(string)
		out = append(out, name, imageName(c))
		if command, _ := c["command"].([]any); len(command) > 0 {
			word, _ := command[0].(string)
			out = append(out, path.Base(word))
		}
	}
	return out
}

// imageName is the last part of an image without tag and digest.
func imageName(container map[string]any) string { return path.Base(repository(container)) }

func repository(container map[string]any) string {
	image, _ := container["image"].(string)
	image, _, _ = strings.Cut(image, "@")
	if at := strings.LastIndexByte(image, ':'); at > strings.LastIndexByte(image, '/') {
		image = image[:at]
	}
	return image
}

// saysWord reports whether the arguments, the command or the environment of a Pod
// hold the finalizer as a word of its own.
func saysWord(pod map[string]any, word string) bool {
	has := func(v any) bool {
		s, _ := v.(string)
		return holdsWord(s, word)
	}
	for _, c := range containersOf(pod) {
		for _, list := range []string{"command", "args"} {
			items, _ := c[list].([]any)
			if slices.ContainsFunc(items, has) {
				return true
			}
		}
		env, _ := c["env"].([]any)
		for _, item := range env {
			if m, is := item.(map[string]any); is && has(m["value"]) {
				return true
			}
		}
	}
	return false
}

// holdsWord: a longer name that only begins or ends alike is another.
func holdsWord(s, word string) bool {
	part := func(r byte) bool {
		return r == '-' || r == '_' || r == '.' || r == '/' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
	}
	for at := 0; word != ""; at++ {
		i := strings.Index(s[at:], word)
		if i < 0 {
			return false
		}
		at += i
		end := at + len(word)
		if (at == 0 || !part(s[at-1])) && (end == len(s) || !part(s[end])) {
			return true
		}
	}
	return false
}

func selects(selector, labels map[string]string) bool {
	for key, value := range selector {
		if labels[key] != value {
			return false
		}
	}
	return len(selector) > 0
}

func releaseOf(o cluster.Object) string {
	notes := o.GetAnnotations()
	if notes[owner.HelmRelease] == "" {
		return ""
	}
	return notes[owner.HelmReleaseNS] + "/" + notes[owner.HelmRelease]
}

func accountOf(namespace string, pod map[string]any) string {
	for _, field := range []string{"serviceAccountName", "serviceAccount"} {
		if name, _ := pod[field].(string); name != "" {
			return namespace + "/" + name
		}
	}
	return namespace + "/default"
}

// telling keeps the managers whose name is that of one program: what people and
// pipelines write with, and what a framework calls every controller, says nothing
// of who cleans up.
func telling(all []blame.Writer) []string {
	var out []string
	for _, w := range all {
		name := strings.ToLower(w.Manager)
		tool := func(tool string) bool { return named(name, tool) }
		if name != "" && !slices.Contains(programWords(), name) && !slices.ContainsFunc(toolManagers(), tool) {
			out = append(out, w.Manager)
		}
	}
	return out
}

// programWords are what many programs call themselves alike.
func programWords() []string {
	return []string{
		"unknown", "before-first-apply", "manager", "controller", "controller-manager", "operator", "main", "app", "server", "agent", "node", "python", "java", "ruby", "deno", "bun",
		"curl", "wget", "go-http-client", "python-requests", "openapi-generator", "kubernetes-client", "fabric8-kubernetes-client", "axios", "okhttp", "mozilla", "node-fetch",
		"argocd-controller", "argocd-application-controller", "argocd-server", "kustomize-controller", "fleetagent", "rancher", "dashboard",
		"kube-controller-manager", "kube-apiserver", "kube-scheduler", "kubelet", "k3s", "rke2",
	}
}

// toolManagers are how the names begin under which people and pipelines write.
func toolManagers() []string {
	return []string{"kubectl", "oc", "k9s", "lens", "freelens", "helm", "terraform", "hashicorp", "opentofu", "pulumi", "ansible", "kustomize", "kapp", "skaffold", "tilt", cluster.FieldManager}
}

// sibling reports whether two objects run the same program: the same image, told
// to play the same part.
func sibling(a, b cluster.Object) bool {
	x, _ := templateOf(a)
	y, _ := templateOf(b)
	mine, theirs := containersOf(x), containersOf(y)
	return len(mine) > 0 && len(theirs) > 0 && repository(mine[0]) != "" && repository(mine[0]) == repository(theirs[0]) && part(mine[0]) == part(theirs[0])
}

// part is the first word that a container is told, which in an image of several
// programs says which.
func part(container map[string]any) string {
	for _, list := range []string{"command", "args"} {
		if words, _ := container[list].([]any); len(words) > 0 {
			word, _ := words[0].(string)
			if !strings.HasPrefix(word, "-") {
				return word
			}
		}
	}
	return ""
}
