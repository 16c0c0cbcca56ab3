package drills_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"handrail/drills"
	"handrail/steps/catalog"
)

// TestParseRefuses changes one place of a drill of the library and wants the
// problem named at that place.
func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, drill, from, to, want string }{
		{"key", "killed-runner", "runbook: state-lock", "runbok: state-lock", `4:1: a drill has no key "runbok" (did you mean "runbook"?)`},
		{"verb", "killed-runner", "- tofu.apply: {dir: six-slow, kill", "- tofu.aply: {dir: six-slow, kill", `17:5: verb cannot be "tofu.aply" (did you mean "tofu.apply"?)`},
		{"argument", "killed-runner", "{by: 47m}", "{bye: 47m}", `lock.backdate has no key "bye"`},
		{"duration", "killed-runner", "{by: 47m}", "{by: 47}", `by must be a duration above zero`},
		{"signal", "killed-runner", "signal: KILL", "signal: KIL", `signal cannot be "KIL" (did you mean "KILL"?)`},
		{"workspace", "killed-runner", "{dir: six-slow, kill", "{dir: six-slo, kill", `there is no workspace "six-slo" (did you mean "six-slow"?)`},
		{"export", "killed-runner", "serial: state.serial", "serial: state.seriel", `24:11: export cannot be "state.seriel" (did you mean "state.serial"?)`},
		{"probe", "killed-runner", "l: terraform/lock", "l: terraform/look", `there is no probe "terraform/look" (did you mean "terraform/lock"?)`},
		{"gate as probe", "killed-runner", "l: terraform/lock", "l: terraform/force-unlock", `there is no probe "terraform/force-unlock"`},
		{"fact", "killed-runner", `"!facts.l.held"`, `"!facts.l.hold"`, "hold"},
		{"tag", "killed-runner", `"!facts.l.held"`, `!facts.l.held`, `a YAML tag "!facts.l.held"`},
		{"drill value", "killed-runner", "facts.s.serial == drill.serial", "facts.s.serial == drill.lock_id", "no matching overload"},
		{"not a condition", "killed-runner", "facts.s.serial == drill.serial", "facts.s.serial", "true or false"},
		{"parameter", "killed-runner", "${drill.log}", "${drill.lock}", `the drill has no value "lock"`},
		{"foreign parameter", "killed-runner", "${drill.log}", "${env.HOME}", `${env.HOME} cannot be named here`},
		{"reference", "killed-runner", "killed-runner.answers.yaml", "nobody.answers.yaml", `reference "nobody.answers.yaml" cannot be read`},
		{"repeated key", "killed-runner", "title: The runner", "id: x\ntitle: The runner", `key "id" again, first on line 3`},

		{"cluster for a drill with a bucket", "stale-lock", "- lock.backdate: {by: 47m}", "- kube.delete: {resource: jobs, name: x}", `kube.delete needs a cluster, and a drill with a bucket has none`},
		{"bucket that comes late", "stale-lock", "- bucket.run: {}\n  - tofu.module: {dir: storefront}", "- tofu.module: {dir: storefront}\n  - bucket.run: {}", `bucket.run says where the state is (put it first)`},
		{"workspace of a drill with a bucket", "stale-lock", "{dir: storefront, to: release}", "{dir: storefront, to: relese}", `the workspace storefront has no edit "relese"`},

		{"backend", "killed-runner", "- on: [consul]", "- on: [konsul]", `on cannot be "konsul" (did you mean "consul"?)`},
		{"backend that is not the first", "killed-runner", "- on: [kubernetes, s3,", "- on: [s3,", "a drill that names backends is written for kubernetes"},
		{"variant on a backend", "torn-state", "variants: [crossed]", "variants: [crosed]", `variants cannot be "crosed" (did you mean "crossed"?)`},
		{"answer on a backend", "killed-runner", "skip: {unlock:", "skips: {unlock:", `backends has no key "skips" (did you mean "skip"?)`},

		{"module of a drill without tofu", "orphan-hook", "${drill.namespace}", "${drill.dir}", `12:14: the drill has no value "dir"`},
		{"file", "orphan-hook", "{file: orphan-hook.objects.yaml}", "{file: orphan-hook.yml}", `file "orphan-hook.yml" cannot be read`},
		{"resource", "orphan-hook", "- kube.delete: {resource: jobs", "- kube.delete: {resource: secrets", `resource cannot be "secrets"`},
		{"object", "orphan-hook", "resource: jobs, name: tariffs-schema-step-7xq4m}\n    expect", "resource: jobs, name: tariffs}\n    expect", `there is no Job "tariffs" in the file`},
		{"parameter of a probe", "orphan-hook", "{resource: jobs, name: tariffs", "{resourc: jobs, name: tariffs", `kube/get has no parameter "resourc" (did you mean "resource"?)`},
		{"nothing that holds", "stuck-namespace", "- space.doom: {file: stuck-namespace.beside.yaml}\n\nexport", "- space.doom: {file: stuck-namespace.closed.yaml}\n\nexport", "nothing in the file holds a namespace"},
		{"parameter that is needed", "orphan-hook", "{resource: jobs, name: tariffs-schema-step-7xq4m}, fact: uid", "{resource: jobs}, fact: uid", "kube/get needs name"},
		{"parameter that does not fit", "orphan-hook", "{resource: jobs, name: tariffs-schema-step-7xq4m}, fact: uid", "{resource: jobs, name: -A}, fact: uid", `name "-A" does not look like`},
		{"choice", "orphan-hook", "read: metadata}, fact", "read: metadat}, fact", `read cannot be "metadat" (did you mean "metadata"?)`},
		{"exported fact", "orphan-hook", "fact: uid", "fact: uidd", `kube/get has no fact "uidd" (did you mean "uid"?)`},
		{"type of an exported fact", "orphan-hook", "facts.decoy.uid == drill.decoy_uid", "facts.deployments.count == drill.decoy_uid", "no matching overload"},
		{"gate", "orphan-hook", "- shown: strip", "- shown: Strip", `shown "Strip" must match`},
		{"nothing later", "orphan-hook", "- shown: strip\n        inject", "- shown: strip\n        injekt", `later has no key "injekt" (did you mean "inject"?)`},
		{"exports of a variant", "orphan-hook", "    title: The same Job, but its controller runs\n", "    title: x\n    params: {name: '${drill.uid}'}\n", `the drill has no value "uid"`},
		{"probes", "orphan-hook", "win:\n  probes:", "win:\n  probe:", `win has no key "probe" (did you mean "probes"?)`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			file := "library/" + tc.drill + ".yaml"
			src, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			bad := strings.Replace(string(src), tc.from, tc.to, 1)
			if bad == string(src) {
				t.Fatalf("%q is not in the drill", tc.from)
			}
			_, err = drills.Parse(file, []byte(bad), os.DirFS("."), catalog.New())
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("Parse() = %v, want %q", err, tc.want)
			}
		})
	}
}

// TestObjectsAreOfTheDrill wants nothing created but what a drill may make, in
// its own namespace.
func TestObjectsAreOfTheDrill(t *testing.T) {
	t.Parallel()
	drill, err := os.ReadFile("library/orphan-hook.yaml")
	if err != nil {
		t.Fatal(err)
	}
	objects, err := os.ReadFile("library/orphan-hook.objects.yaml")
	if err != nil {
		t.Fatal(err)
	}
	answers, err := os.ReadFile("library/orphan-hook.answers.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct{ name, more, want string }{
		{"rights", "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\nmetadata: {name: x}\n", "a drill makes no ClusterRoleBinding"},
		{"a kind of another group", "apiVersion: batch/v1\nkind: Deployment\nmetadata: {name: x}\n", "a drill makes no Deployment of batch/v1"},
		{"another namespace", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x, namespace: default}\n", `3:21: metadata has no key "namespace"`},
		{"an owner", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x, ownerReferences: []}\n", `metadata has no key "ownerReferences"`},
		{"a status", "apiVersion: v1\nkind: Service\nmetadata: {name: x}\nstatus: {}\n", `4:1: an object has no key "status"`},
		{"no name", "apiVersion: v1\nkind: ConfigMap\nmetadata: {labels: {a: b}}\n", "name is missing"},
		{"the same again", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: tariffs}\n", `ConfigMap "tariffs" again`},
		{"a path for a name", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ../../secrets/x}\n", `must match`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			// The place is counted from the document that was put in front.
			src := tc.more + "---\n" + string(objects)
			_, err := drills.Parse("orphan-hook.yaml", drill, fstest.MapFS{
				"orphan-hook.answers.yaml": {Data: answers}, "orphan-hook.objects.yaml": {Data: []byte(src)}}, catalog.New())
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("Parse() = %v, want %q", err, tc.want)
			}
		})
	}
	t.Run("places", func(t *testing.T) {
		t.Parallel()
		bad := strings.Replace(string(objects), "kind: CronJob", "kind: CronJobs", 1)
		line := strings.Count(bad[:strings.Index(bad, "kind: CronJobs")], "\n") // of apiVersion, where the document begins
		_, err := drills.Parse("orphan-hook.yaml", drill, fstest.MapFS{
			"orphan-hook.answers.yaml": {Data: answers}, "orphan-hook.objects.yaml": {Data: []byte(bad)}}, catalog.New())
		if want := fmt.Sprintf("orphan-hook.objects.yaml:%d:1: ", line); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Parse() = %v, want a problem at %s", err, want)
		}
	})
}

func TestLibrary(t *testing.T) {
	t.Parallel()
	cat := catalog.New()
	rows, err := drills.List(cat)
	if err != nil {
		t.Fatal(err)
	}
	for id, variants := range map[string][]string{
		"killed-runner":   {"live-holder"},
		"orphan-hook":     {"terminating", "owner-alive", "recreated", "decoy"},
		"dead-webhook":    {"no-word"},
		"false-positive":  {"delete-it", "gatekeeper", "gatekeeper-off", "no-word"},
		"stuck-namespace": {"webhook", "owner-alive"},
	} {
		if !slices.ContainsFunc(rows, func(r drills.Row) bool { return r.ID == id && slices.Equal(r.Variants, variants) }) {
			t.Errorf("List() = %+v, want %s with %v", rows, id, variants)
		}
	}
	all, err := drills.Library(cat)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range all {
		rb, err := library(d.Runbook)
		if err != nil {
			t.Fatalf("%s: runbook %s: %v", d.ID, d.Runbook, err)
		}
		for _, v := range append(d.Variants(), "") {
			s, err := d.Scene(v)
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Check(rb); err != nil {
				t.Errorf("%s: %v", s.Name(), err)
			}
			if missing := s.Answers.Missing(rb); len(missing) > 0 {
				t.Errorf("%s: its script stops at %v", s.Name(), missing)
			}
		}
	}
	if _, err := drills.Lookup("killed-runer", cat); err == nil || !strings.Contains(err.Error(), `"killed-runner"`) {
		t.Errorf("Lookup of a slip = %v, want the nearest id", err)
	}
}

// FuzzParse wants an answer for anything, never a panic.
func FuzzParse(f *testing.F) {
	src, err := os.ReadFile("library/killed-runner.yaml")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(src)
	f.Add([]byte("a: &x [*x]"))
	cat := catalog.New()
	f.Fuzz(func(t *testing.T, src []byte) {
		d, err := drills.Parse("x.yaml", src, fstest.MapFS{}, cat)
		if (d == nil) == (err == nil) {
			t.Errorf("Parse() = %v, %v", d, err)
		}
	})
}

// TestDrillsSayWhatWinningTakes: each says it in words, and in none that name a condition
// or a step.
func TestDrillsSayWhatWinningTakes(t *testing.T) {
	t.Parallel()
	rows, err := drills.List(catalog.New())
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range rows {
		if len(d.Goal) < 60 || len(d.Goal) > 220 || strings.ContainsAny(d.Goal, "=!_{}") || strings.Contains(d.Goal, "facts.") {
			t.Errorf("%s: winning takes %q", d.ID, d.Goal)
		}
	}
}
