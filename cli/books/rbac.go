package books

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"handrail/cli/process"
	"handrail/cli/settings"
	"handrail/runbooks"
	"handrail/steps"
	"handrail/steps/catalog"
	"handrail/steps/kube/permit"
)

const rbacVersion = "rbac.authorization.k8s.io/v1"

// The names of the roles that are made.
const (
	roleRead   = "handrail-read"
	roleChange = "handrail-change"
)

// clusterRole is a ClusterRole or a Role as Kubernetes takes it.
type clusterRole struct {
	APIVersion string        `json:"apiVersion"`
	Kind       string        `json:"kind"`
	Metadata   roleMetadata  `json:"metadata"`
	Rules      []permit.Rule `json:"rules"`

	about string
}

type roleMetadata struct {
	Name      string `json:"name"`
	Namespace string `json:"namespace,omitempty"`
}

// untoldRight is what only a run tells, and so stands in no role.
type untoldRight struct {
	Kind  string   `json:"kind"`
	Verbs []string `json:"verbs"`
	For   string   `json:"for,omitempty"`
}

// runbookRBAC is the document of the command.
type runbookRBAC struct {
	Runbooks []string      `json:"runbooks"`
	Items    []clusterRole `json:"items"`
	Untold   []untoldRight `json:"untold"`
}

func rbacCommand(p *process.Program) *cobra.Command {
	var pairs []string
	var gates bool
	cmd := &cobra.Command{
		Use: "rbac [RUNBOOK...]", Short: "Print the ClusterRole and the Role that runbooks need",
		Long: `rbac prints, as YAML for kubectl, a ClusterRole and a Role with what the probes of
these runbooks ask of a cluster, and nothing else; without a RUNBOOK, of all of them.
The ClusterRole holds what lies outside of one namespace. With --gates a second pair holds
what their gates need besides. Nothing is sent to a cluster.

What a rule is for stands above it; what is for a controller that you do not have can be
left out. Which resource a step reads may depend on a parameter, such as resource: give it
with -p, or its default counts. A Role belongs to the namespace of -n, and is bound in each
namespace in which incidents are worked on.`,
	}
	cmd.Flags().StringArrayVarP(&pairs, "param", "p", nil, "a parameter of the runbooks, as `name=value`; may be repeated")
	cmd.Flags().BoolVar(&gates, "gates", false, "print also the roles of what their gates change")
	o := process.OutputFlag(cmd)
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		given, err := settings.Pairs(pairs)
		if err != nil {
			return err
		}
		books, err := chosen(p, args)
		if err != nil {
			return err
		}
		if err := taken(books, given); err != nil {
			return err
		}
		doc := rolesFor(books, given, gates, p.Namespace)
		if *o == process.AsJSON {
			return process.PrintJSON(p, doc)
		}
		words := append([]string{"handrail", "runbook", "rbac"}, args...)
		if gates {
			words = append(words, "--gates")
		}
		for _, pair := range pairs {
			words = append(words, "-p", pair)
		}
		if p.Namespace != "" {
			words = append(words, "-n", p.Namespace)
		}
		return printText(p, doc.yaml(words))
	}
	return cmd
}

// chosen are the runbooks of these names, or all.
func chosen(p *process.Program, names []string) ([]*runbooks.Runbook, error) {
	if len(names) == 0 {
		return settings.Library(p)
	}
	var out []*runbooks.Runbook
	for _, name := range names {
		b, err := settings.Look(p, name)
		if err != nil {
			return nil, err
		}
		out = append(out, b.Runbook)
	}
	return out, nil
}

// taken says which parameter no runbook has.
func taken(books []*runbooks.Runbook, given map[string]string) error {
	for name := range given {
		has := func(rb *runbooks.Runbook) bool {
			return slices.ContainsFunc(rb.Params, func(f steps.Field) bool { return f.Name == name })
		}
		if !slices.ContainsFunc(books, has) {
			return process.Usage("see `handrail runbook show RUNBOOK`", "none of these runbooks has a parameter %q", name)
		}
	}
	return nil
}

// rolesFor makes the roles for the steps of runbooks.
func rolesFor(books []*runbooks.Runbook, given map[string]string, gates bool, namespace string) runbookRBAC {
	out := runbookRBAC{Runbooks: []string{}, Items: []clusterRole{}, Untold: []untoldRight{}}
	var reads, changes []permit.Need
	for _, rb := range books {
		out.Runbooks = append(out.Runbooks, rb.ID)
		for _, v := range worlds(rb, assumed(rb, given)) {
			for _, st := range rb.Steps {
				k, ok := catalog.New().Lookup(st.Uses)
				if !ok || k.Rights == nil {
					continue
				}
				for _, right := range k.Rights(rb.Told(st.ID, v)) {
					if need := (permit.Need{Step: k.Name, Right: right}); k.Class.Gate() {
						changes = append(changes, need)
					} else {
						reads = append(reads, need)
					}
				}
			}
		}
	}
	read := permit.Merge(reads, permit.Roles{})
	out.add(roleRead, "read", read, namespace)
	if gates {
		out.add(roleChange, "change, besides what they read", permit.Merge(changes, read), namespace)
	}
	return out
}

// assumed are the parameters as given, by default, or as if something had been given:
// a step that needs one is meant as well.
func assumed(rb *runbooks.Runbook, given map[string]string) steps.Params {
	out := steps.Params{}
	for _, f := range rb.Params {
		text := given[f.Name]
		if text == "" {
			text = f.Default
		}
		if text == "" {
			text = "any"
		}
		if v, err := steps.ParseValue(f.Type, text); err == nil {
			out[f.Name] = v
		}
	}
	return out
}

// worlds are the parameters, and each value of a fact that names one of few resources.
func worlds(rb *runbooks.Runbook, params steps.Params) []runbooks.Vars {
	out := []runbooks.Vars{{Params: params}}
	for _, st := range rb.Steps {
		k, _ := catalog.New().Lookup(st.Uses)
		for _, f := range k.Facts {
			var next []runbooks.Vars
			for _, value := range permit.Named(k.Name, f.Name) {
				for _, v := range out {
					facts := map[string]map[string]steps.Value{st.ID: {f.Name: steps.StringOf(value)}}
					maps.Copy(facts, v.Facts)
					next = append(next, runbooks.Vars{Params: params, Facts: facts})
				}
			}
			if next != nil {
				out = next
			}
		}
	}
	return out
}

func (d *runbookRBAC) add(name, verb string, roles permit.Roles, namespace string) {
	if len(roles.Wide) > 0 {
		d.Items = append(d.Items, clusterRole{rbacVersion, "ClusterRole", roleMetadata{Name: name}, roles.Wide, "What the runbooks " + verb + ": across namespaces, and of the cluster."})
	}
	if len(roles.Here) > 0 {
		d.Items = append(d.Items, clusterRole{rbacVersion, "Role", roleMetadata{Name: name, Namespace: namespace}, roles.Here, "What the runbooks " + verb + ": in one namespace."})
	}
	for _, n := range roles.Untold {
		d.Untold = append(d.Untold, untoldRight{n.Step, n.Verbs, n.For})
	}
}

// yaml is the document as kubectl takes it.
func (d *runbookRBAC) yaml(command []string) string {
	var b strings.Builder
	for i, word := range command {
		if !plainWord.MatchString(word) {
			command[i] = strconv.Quote(word) // on one line, too
		}
	}
	fmt.Fprintf(&b, "# Made by `%s`.\n", strings.Join(command, " "))
	if len(d.Items) == 0 {
		fmt.Fprintf(&b, "# These runbooks ask no cluster as you.\n")
	}
	for _, u := range d.Untold {
		what := "on what the incident names"
		if u.For != "" {
			what = "on " + u.For
		}
		fmt.Fprintf(&b, "# Not in these roles: %s needs %s %s.\n", u.Kind, strings.Join(u.Verbs, ", "), what)
	}
	for i, role := range d.Items {
		if i > 0 {
			b.WriteString("---\n")
		}
		fmt.Fprintf(&b, "# %s\napiVersion: %s\nkind: %s\nmetadata:\n  name: %s\n", role.about, role.APIVersion, role.Kind, role.Metadata.Name)
		if role.Metadata.Namespace != "" {
			fmt.Fprintf(&b, "  namespace: %s\n", quoted(role.Metadata.Namespace))
		}
		b.WriteString("rules:\n")
		for _, r := range role.Rules {
			fmt.Fprintf(&b, "# %s\n", strings.Join(r.Steps, ", "))
			if r.For != "" {
				fmt.Fprintf(&b, "# for: %s\n", r.For)
			}
			if r.Secrets() {
				b.WriteString("# It covers Secrets: RBAC has no right to their metadata alone.\n")
			}
			fmt.Fprintf(&b, "- apiGroups: %s\n  resources: %s\n", flow(r.Groups), flow(r.Resources))
			if len(r.Names) > 0 {
				fmt.Fprintf(&b, "  resourceNames: %s\n", flow(r.Names))
			}
			fmt.Fprintf(&b, "  verbs: %s\n", flow(r.Verbs))
		}
	}
	return b.String()
}

// flow is a list on one line of YAML.
func flow(list []string) string {
	var out []string
	for _, s := range list {
		out = append(out, quoted(s))
	}
	return "[" + strings.Join(out, ", ") + "]"
}

func quoted(s string) string { return strconv.Quote(s) }

var plainWord = regexp.MustCompile(`^[A-Za-z0-9_./=:,@-]+$`)
