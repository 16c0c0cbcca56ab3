package runbooks

import (
	"encoding/json"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"handrail/steps"
)

// What a text says of the thing that an incident is about, besides what the patterns of
// a runbook name: an object in YAML or JSON, the arguments of a command, the words of an
// error. A source that names several things says nothing, since to choose one would be
// to guess.

// finds are the values of parameters that a text names, by the name that the parameters
// have in every runbook.
type finds map[string]string

// object is a thing of a cluster as a text names it.
type object struct{ resource, name, namespace string }

// Found gives the parameters of a runbook that a text names, beside those that its
// patterns found: only what each of them can take.
func (r *Runbook) Found(text string, groups map[string]string) map[string]string {
	out := map[string]string{}
	lines := strings.Split(unframed(text), "\n")
	for _, from := range []finds{groups, r.about(documented(text)), argv(lines), r.about(destroying(lines)), r.about(quotedObject(text)), r.about(namedObject(text)), worded(text)} {
		for _, p := range r.Params {
			v := from[p.Name]
			if p.Name == "log" && !p.Matched {
				v = groups["log"] // what a command writes is the log of its own run, and here another run's is wanted
			}
			if p.Name == "resource" && !r.takes(p, v) {
				v = shortKinds[v]
			}
			if v != "" && out[p.Name] == "" && r.takes(p, v) && (p.Name != "name" || r.ofKind(from["resource"])) {
				out[p.Name] = v
			}
		}
	}
	return out
}

// takes reports whether a parameter can have a value.
func (r *Runbook) takes(p steps.Field, text string) bool {
	v, err := steps.ParseValue(p.Type, text)
	return err == nil && r.admit(p, v) == nil
}

// shortKinds are short names of kubectl that are no beginning of the whole one.
var shortKinds = map[string]string{"sts": "statefulset", "ds": "daemonset", "ks": "kustomization", "hr": "helmrelease"}

// ofKind reports whether a runbook may be about a thing of a kind. A Secret, say, is not the workload that takes it,
// and its name is not that of the workload.
func (r *Runbook) ofKind(kind string) bool {
	i := slices.IndexFunc(r.Params, func(p steps.Field) bool { return p.Name == "resource" })
	if kind == "" || i < 0 || r.takes(r.Params[i], kind) {
		return true
	}
	kind, _, _ = strings.Cut(strings.ToLower(kind), ".")
	if whole := shortKinds[kind]; whole != "" {
		kind = whole
	}
	return strings.Contains(r.Params[i].Pattern, strings.TrimSuffix(kind, "s"))
}

// about are the parameters that name an object. A namespace that is itself the thing
// has a parameter of its own where the runbook can work on a whole one.
func (r *Runbook) about(o object) finds {
	if o.name == "" {
		return nil
	}
	whole := slices.ContainsFunc(r.Params, func(p steps.Field) bool { return p.Name == "space" })
	if kind, _, _ := strings.Cut(o.resource, "."); whole && (kind == "namespace" || kind == "namespaces" || kind == "ns") {
		return finds{"space": o.name}
	}
	out := finds{"resource": o.resource, "name": o.name, "namespace": o.namespace}
	if o.resource == "deployment" {
		out["app"] = o.name
	}
	return out
}

// documented is the one object that a text has as YAML or JSON.
func documented(text string) object {
	var all []object
	var doc struct {
		Kind     string
		Metadata struct{ Name, Namespace string }
	}
	if from := strings.IndexByte(text, '{'); from >= 0 {
		if err := json.NewDecoder(strings.NewReader(text[from:])).Decode(&doc); err == nil && doc.Kind != "" && !strings.HasSuffix(doc.Kind, "List") {
			all = append(all, object{strings.ToLower(doc.Kind), doc.Metadata.Name, doc.Metadata.Namespace})
		}
	}
	return one(append(all, inYAML(text)...))
}

var (
	yamlKind  = regexp.MustCompile(`^kind:\s*"?([A-Za-z]+)"?\s*$`)
	yamlMeta  = regexp.MustCompile(`^metadata:\s*$`)
	yamlField = regexp.MustCompile(`^(\s+)(name|namespace):\s*"?([A-Za-z0-9][A-Za-z0-9._:-]*)"?\s*$`)
)

// inYAML are the objects of a text in YAML: kind and metadata at the margin. What is
// nested deeper belongs to a template or an owner.
func inYAML(text string) []object {
	var all []object
	var now object
	meta, indent := false, ""
	end := func() {
		if now.resource != "" && now.name != "" {
			all = append(all, now)
		}
		now, meta = object{}, false
	}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, " \r\n")
		switch {
		case line == "---":
			end()
		case yamlKind.MatchString(line):
			now.resource = strings.ToLower(yamlKind.FindStringSubmatch(line)[1])
		case yamlMeta.MatchString(line):
			meta, indent = true, ""
		case line != "" && line[0] != ' ' && line[0] != '\t':
			meta = false
		case meta:
			if indent == "" {
				indent = line[:len(line)-len(strings.TrimLeft(line, " "))]
			}
			if m := yamlField.FindStringSubmatch(line); m != nil && m[1] == indent {
				if m[2] == "name" {
					now.name = m[3]
				} else {
					now.namespace = m[3]
				}
			}
		}
	}
	end()
	return all
}

// one is the object of a list that names no other.
func one(all []object) object {
	var out object
	for _, o := range all {
		if out.name != "" && (o.name != out.name || o.resource != out.resource) {
			return object{}
		}
		if out.namespace == "" {
			out.namespace = o.namespace
		}
		out.resource, out.name = o.resource, o.name
	}
	return out
}

// prompt is what stands before a command in what was copied from a terminal.
var prompt = regexp.MustCompile(`^(?:\s*[+]+ |.{0,80}?[$#%❯>] )?\s*((?:[A-Z_][A-Z0-9_]*=\S+ )*(?:kubectl|oc|k|terraform|tofu|terragrunt|cd)\b.*)$`)

// argv is what the commands of a text say by their arguments. A later command says it
// anew.
func argv(lines []string) finds {
	out := finds{}
	for _, l := range lines {
		m := prompt.FindStringSubmatch(strings.TrimRight(l, " \r"))
		if m == nil {
			continue
		}
		words := strings.Fields(m[1])
		for len(words) > 0 && strings.Contains(words[0], "=") {
			if v, ok := strings.CutPrefix(words[0], "TF_WORKSPACE="); ok {
				out["workspace"] = v
			}
			words = words[1:]
		}
		if len(words) < 2 {
			continue
		}
		switch words[0] {
		case "cd":
			out["dir"] = words[1]
		case "kubectl", "oc", "k":
			kubectlArgs(out, words[1:])
		default:
			terraformArgs(out, words[1:])
		}
	}
	return out
}

// kubectlArgs reads the object of a command of kubectl.
func kubectlArgs(out finds, words []string) {
	verbs := []string{"get", "describe", "delete", "edit", "patch", "annotate", "label", "wait", "scale", "logs"}
	var plain []string
	namespace := ""
	for i := 0; i < len(words); i++ {
		w := words[i]
		name, value, has := strings.Cut(w, "=")
		switch {
		case name == "-n" || name == "--namespace":
			if !has && i+1 < len(words) {
				i++
				value = words[i]
			}
			namespace = value
		case strings.ContainsAny(w, "|;&<>"):
			i = len(words)
		case strings.HasPrefix(w, "-"):
			takes := []string{"-o", "--output", "-l", "--selector", "-c", "--container", "--context", "--kubeconfig", "-p", "--patch", "--type"}
			if !has && slices.Contains(takes, w) {
				i++
			}
		default:
			plain = append(plain, w)
		}
	}
	if namespace != "" {
		out["namespace"] = namespace
	}
	if len(plain) < 2 || !slices.Contains(verbs, plain[0]) {
		return
	}
	kind, name, slash := strings.Cut(plain[1], "/")
	switch {
	case slash && len(plain) == 2:
	case !slash && len(plain) == 3:
		name = plain[2]
	default:
		return
	}
	if kind == "namespace" || kind == "namespaces" || kind == "ns" {
		out["space"] = name
		return
	}
	out["resource"], out["name"] = kind, name
}

// runs are the commands of Terraform whose output is the log of a run. That of state pull is a state.
var runs = []string{"apply", "destroy", "import", "init", "plan", "refresh"}

// terraformArgs reads directory, workspace, plan and log of a command of Terraform.
func terraformArgs(out finds, words []string) {
	var plain []string
	before := true // the first | or >
	for i, w := range words {
		switch {
		case strings.HasPrefix(w, "-chdir="):
			out["dir"] = strings.TrimPrefix(w, "-chdir=")
		case (w == "tee" || w == ">" || w == "&>" || w == ">>") && i+1 < len(words):
			before = false
			if slices.ContainsFunc(plain, func(w string) bool { return slices.Contains(runs, w) }) {
				out["log"] = file(words[i+1:])
			}
		case w == "|":
			before = false
		case w == "2>&1" || strings.HasPrefix(w, "-"):
		case before:
			plain = append(plain, w)
		}
	}
	switch {
	case len(plain) >= 3 && plain[0] == "workspace" && (plain[1] == "select" || plain[1] == "new"):
		out["workspace"] = plain[2]
	case len(plain) >= 2 && plain[0] == "apply" && (path.Ext(plain[1]) != "" || strings.Contains(plain[1], "plan")):
		out["plan"] = plain[1]
	}
}

// file is the first word that is no option: what tee writes.
func file(words []string) string {
	for _, w := range words {
		if !strings.HasPrefix(w, "-") {
			return w
		}
	}
	return ""
}

var (
	quotedName  = regexp.MustCompile(`\b([a-z]+(?:\.[a-z0-9][a-z0-9.-]*)?) "([a-z0-9][a-z0-9.-]*)" (?:not found|is forbidden|is invalid|already exists|deleted|cannot be)`)
	inNamespace = regexp.MustCompile(`(?i)\b(?:in (?:the )?namespace|namespace[:=])\s*"?([a-z0-9](?:[a-z0-9-]*[a-z0-9])?)"?`)
	inWorkspace = regexp.MustCompile(`(?i)\b(?:switched to|in|current|selected) workspace:?\s+"([A-Za-z0-9_.~$&+:=@-]+)"`)
)

// quotedObject is the one object that errors of an API server name.
func quotedObject(text string) object {
	var all []object
	for _, m := range quotedName.FindAllStringSubmatch(text, 32) {
		all = append(all, object{resource: m[1], name: m[2]})
	}
	return one(all)
}

// destroyLine is what Terraform says of the destruction of an object of a cluster. An id that is too long for the
// line is cut, and names nothing.
var destroyLine = regexp.MustCompile(`(?:^|[\s.])(kubernetes_([a-z0-9_]+?)(?:_v\d+(?:(?:alpha|beta)\d+)?)?\.[^:]+): (?:Still destroying\.\.\. \[id=([^,\]…]+),|(Destruction complete))`)

// destroying is the one object that Terraform still waited for when its output ended.
func destroying(lines []string) object {
	left := map[string]object{}
	for _, l := range lines {
		m := destroyLine.FindStringSubmatch(l)
		switch {
		case m == nil:
		case m[4] != "":
			delete(left, m[1])
		case strings.Contains(m[3], "="): // an id of fields, as kubernetes_labels has
		default:
			space, name, inside := strings.Cut(m[3], "/")
			if !inside {
				space, name = "", space
			}
			left[m[1]] = object{strings.ReplaceAll(m[2], "_", ""), name, space}
		}
	}
	return one(slices.Collect(maps.Values(left)))
}

// objectWords is an object as people write it: deployment/api, or configmap pay-env. Without
// a slash a name must look like one, or say where it is, or "the deployment is" would name an object.
// With two it has its namespace first, as handrail writes it.
var objectWords = regexp.MustCompile(`(?i)\b(configmap|deployment|statefulset|daemonset|replicaset|cronjob|job|pod|service|ingress|namespace|persistentvolumeclaim|pvc)(?:/([a-z0-9][a-z0-9.-]*)(?:/([a-z0-9][a-z0-9.-]*))?|\s+["'\x60]?([a-z0-9]+(?:[-.][a-z0-9]+)+)|\s+["'\x60]?([a-z0-9]+)["'\x60]?\s+in\s+(?:the\s+)?namespace\b)`)

// namedObject is the one object that a story names. A namespace beside another object only says
// where that is.
func namedObject(text string) object {
	var all, spaces []object
	for _, m := range objectWords.FindAllStringSubmatch(text, 32) {
		o := object{resource: strings.ToLower(m[1]), name: strings.Trim(m[2]+m[4]+m[5], ".-")}
		if m[3] != "" {
			o.namespace, o.name = o.name, strings.Trim(m[3], ".-")
		}
		if o.resource == "namespace" {
			spaces = append(spaces, o)
		} else {
			all = append(all, o)
		}
	}
	if len(all) == 0 {
		all = spaces
	}
	return one(all)
}

// worded is what the sentences of a text say, where all say the same.
func worded(text string) finds {
	out := finds{}
	for name, re := range map[string]*regexp.Regexp{"namespace": inNamespace, "workspace": inWorkspace} {
		var all []string
		for _, m := range re.FindAllStringSubmatch(text, 64) {
			all = append(all, m[1])
		}
		slices.Sort(all)
		if all = slices.Compact(all); len(all) == 1 {
			out[name] = all[0]
		}
	}
	return out
}
