package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"

	"handrail/evidence/visible"
)

// resourceMax bounds what is read of one artifact to sort it into the layout, sortedMax of all together. What is over
// is copied as it is.
const (
	resourceMax = 32 << 20
	sortedMax   = 256 << 20
)

// WriteTroubleshoot lays an incident out as tools for troubleshoot support bundles read it: version.yaml,
// analysis.json with each finding, cluster-resources/<kind>/<namespace>.json with the objects that were captured, and
// all that has no place there below handrail/. dir must not exist. Names that come from captured objects are used only
// where they are the names of Kubernetes.
func WriteTroubleshoot(dir string, d Document, open Open, version string) (err error) {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return fmt.Errorf("exporting: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("exporting: %w", err)
	}
	t := &layout{root: root}
	defer func() { err = errors.Join(err, root.Close()) }()
	t.file("version.yaml", func(w io.Writer) error {
		_, err := fmt.Fprintf(w, "apiVersion: troubleshoot.sh/v1beta2\nkind: SupportBundle\nspec:\n  versionNumber: %q\n", "handrail "+visible.Line(version).String())
		return err
	})
	t.file("analysis.json", func(w io.Writer) error { return analysis(w, d) })
	t.file("handrail/report.md", func(w io.Writer) error { return WriteMarkdown(w, d) })
	t.file("handrail/report.html", func(w io.Writer) error { return WriteHTML(w, d) })
	t.file("handrail/report.json", func(w io.Writer) error { return WriteJSON(w, d) })
	t.file("handrail/timeline.csv", func(w io.Writer) error { return WriteCSV(w, d) })
	t.artifacts(d, open)
	return t.err
}

type layout struct {
	root *os.Root
	err  error
}

func (t *layout) file(name string, write func(io.Writer) error) {
	if t.err != nil {
		return
	}
	if t.err = t.root.MkdirAll(path.Dir(name), 0o700); t.err != nil {
		return
	}
	f, err := t.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		err = errors.Join(write(f), f.Close())
	}
	if err != nil {
		t.err = fmt.Errorf("exporting %q: %w", name, err)
	}
}

// artifacts sorts the captured objects by kind and namespace; the newest capture of an object is the one that stays.
// Everything else is copied under its hash.
func (t *layout) artifacts(d Document, open Open) {
	objects := map[string]map[string]json.RawMessage{} // by file, by name
	done := map[visible.Text]bool{}
	held := 0
	for _, a := range slices.Backward(d.Artifacts) {
		if t.err != nil || done[a.SHA256] {
			continue
		}
		done[a.SHA256] = true
		raw, err := readArtifact(a, open)
		if err != nil {
			t.err = err
			return
		}
		if raw != nil && a.Media == "application/vnd.k8s+json" && held+len(raw) <= sortedMax && sorted(objects, raw) {
			held += len(raw)
			continue
		}
		t.file("handrail/artifacts/"+string(a.SHA256), func(w io.Writer) error {
			if raw != nil {
				_, err := w.Write(raw)
				return err
			}
			f, err := open(string(a.SHA256))
			if err != nil {
				return err
			}
			_, err = io.Copy(w, f)
			return errors.Join(err, f.Close())
		})
	}
	for _, name := range slices.Sorted(maps.Keys(objects)) {
		var list []json.RawMessage
		for _, k := range slices.Sorted(maps.Keys(objects[name])) {
			list = append(list, objects[name][k])
		}
		t.file(name, func(w io.Writer) error {
			enc := json.NewEncoder(w)
			enc.SetIndent("", "  ")
			return enc.Encode(map[string]any{"apiVersion": "v1", "kind": "List", "items": list})
		})
	}
}

// readArtifact reads an artifact that is small enough to be looked into; nil for one that is not.
func readArtifact(a Artifact, open Open) ([]byte, error) {
	f, err := open(string(a.SHA256))
	if err != nil {
		return nil, fmt.Errorf("exporting artifact %q: %w", a.SHA256, err)
	}
	raw, err := io.ReadAll(io.LimitReader(f, resourceMax+1))
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, fmt.Errorf("exporting artifact %q: %w", a.SHA256, err)
	}
	if len(raw) > resourceMax {
		return nil, nil
	}
	return raw, nil
}

// What may become a part of a path: an uppercase-led kind, a DNS label.
var (
	kindName      = regexp.MustCompile(`^[A-Z][A-Za-z0-9]{0,62}$`)
	namespaceName = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)
)

// object is what of a Kubernetes object decides its place.
type object struct {
	Group    string `json:"apiVersion"`
	Kind     string `json:"kind"`
	Metadata struct {
		Name      string `json:"name"`
		Namespace string `json:"namespace"`
	} `json:"metadata"`
	Items []json.RawMessage `json:"items"`
}

// sorted puts an object, or each of a list, into its file. It reports false where any has no place.
func sorted(objects map[string]map[string]json.RawMessage, raw []byte) bool {
	var o object
	if json.Unmarshal(raw, &o) != nil {
		return false
	}
	if strings.HasSuffix(o.Kind, "List") && len(o.Items) > 0 {
		all := true
		for _, item := range o.Items {
			all = sorted(objects, item) && all
		}
		return all
	}
	if !kindName.MatchString(o.Kind) || o.Metadata.Name == "" {
		return false
	}
	name := "cluster-resources/" + plural(o.Kind) + ".json"
	if o.Metadata.Namespace != "" {
		if !namespaceName.MatchString(o.Metadata.Namespace) {
			return false
		}
		name = "cluster-resources/" + plural(o.Kind) + "/" + o.Metadata.Namespace + ".json"
	}
	if objects[name] == nil {
		objects[name] = map[string]json.RawMessage{}
	}
	// Two API groups may have a kind of the same name: each of its objects is one of its own.
	group, _, of := strings.Cut(o.Group, "/")
	if !of {
		group = ""
	}
	if id := o.Metadata.Name + " " + group; objects[name][id] == nil {
		objects[name][id] = raw
	}
	return true
}

// plural is how troubleshoot names the directory of a kind.
func plural(kind string) string {
	k := strings.ToLower(kind)
	switch {
	case strings.HasSuffix(k, "s"), strings.HasSuffix(k, "x"):
		return k + "es"
	case strings.HasSuffix(k, "y") && !strings.HasSuffix(k, "ey"):
		return k[:len(k)-1] + "ies"
	}
	return k + "s"
}

// result and insight are troubleshoot's form of a finding.
type result struct {
	Name     string            `json:"name"`
	Labels   map[string]string `json:"labels"`
	Insight  insight           `json:"insight"`
	Severity string            `json:"severity"` // error, warn or debug
}

type insight struct {
	Name     string       `json:"name"`
	Primary  visible.Text `json:"primary"`
	Detail   visible.Text `json:"detail"`
	Severity string       `json:"severity"`
}

func analysis(w io.Writer, d Document) error {
	out := []result{}
	severities := map[visible.Text]string{"critical": "error", "warning": "warn"}
	add := func(severity string, step, primary, detail visible.Text) {
		name := fmt.Sprintf("handrail.%s.%d", step, len(out)+1)
		out = append(out, result{
			Name: name, Labels: map[string]string{"handrailStep": string(step)}, Severity: severity,
			Insight: insight{Name: name, Primary: primary, Detail: detail, Severity: severity},
		})
	}
	for _, f := range d.Findings {
		severity := severities[f.Level]
		if severity == "" {
			severity = "debug"
		}
		add(severity, f.Step, f.Say, visible.Line(fmt.Sprintf("entry %d of %s", f.Entry, d.Incident)))
	}
	for _, r := range d.Unchecked {
		add("warn", r.Step, visible.Line("could not be checked: "+string(r.What)), r.Why)
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(out)
}
