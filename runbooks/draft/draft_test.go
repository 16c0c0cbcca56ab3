package draft

import (
	"strings"
	"testing"

	"handrail/runbooks"
	"handrail/steps/catalog"
)

// TestTemplatePassesTheLinter: what an author begins with is right.
func TestTemplatePassesTheLinter(t *testing.T) {
	t.Parallel()
	if _, err := runbooks.Lint("f", []byte(Template("disk-full")), catalog.New()); err != nil {
		t.Fatal(err)
	}
}

// TestCommands: a command becomes a probe only where the probe reads the same and no more
// is meant; whatever may change something stands in recover, by hand.
func TestCommands(t *testing.T) {
	t.Parallel()
	const kept = `manual: "Run: `
	for command, want := range map[string]string{
		"kubectl get deploy web -n shop":                   "preserve|uses: kube/get",
		"kubectl -n shop get deploy web":                   "preserve|uses: kube/get",
		"kubectl --namespace=shop logs job/web":            "preserve|uses: kube/logs",
		"kubectl --context prod get deploy web":            "preserve|" + kept,
		"kubectl -n shop delete deploy web":                "recover|" + kept,
		"helm --kube-context prod -n shop history web":     "preserve|" + kept,
		"git -C /srv/infra log -3":                         "preserve|" + kept,
		"git -C /srv/infra push":                           "recover|" + kept,
		"terraform -chdir=live plan":                       "recover|" + kept,
		"terraform -chdir=live show":                       "preserve|" + kept,
		"kubectl describe deploy/web":                      "preserve|uses: kube/get",
		"kubectl get pods -A":                              "preserve|uses: kube/list",
		"kubectl get events -n shop":                       "preserve|uses: kube/events",
		"kubectl logs web-1 --previous":                    "preserve|uses: kube/logs",
		"terraform plan":                                   "preserve|uses: terraform/plan",
		"tofu state list":                                  "preserve|uses: terraform/state",
		"kubectl get pods | grep Crash":                    "preserve|" + kept,
		"kubectl get pods --watch-only x":                  "preserve|" + kept,
		"journalctl -u kubelet":                            "preserve|" + kept,
		"terraform plan -destroy":                          "recover|" + kept,
		"terraform apply":                                  "recover|" + kept,
		"kubectl get pods | xargs kubectl delete pod":      "recover|" + kept,
		"kubectl get deploy web; rm -rf /":                 "recover|" + kept,
		"kubectl logs web > /etc/passwd":                   "recover|" + kept,
		"kubectl get secret $(cat name)":                   "recover|" + kept,
		"find / -delete":                                   "recover|" + kept,
		"./repair.sh":                                      "recover|" + kept,
		`kubectl get pod ${facts.lock.id}`:                 "preserve|" + kept,
		`kubectl get pod "-o=jsonpath={.metadata.labels}"`: "preserve|" + kept,
	} {
		text, _ := FromMarkdown("a-page", "# A page\n\n```sh\n"+command+"\n```\n", catalog.New())
		phase, step, _ := strings.Cut(want, "|")
		_, in, found := strings.Cut(text, "\n"+phase+":\n")
		if in, _, _ = strings.Cut(in, "\n\n"); !found || !strings.Contains(in, step) {
			t.Errorf("%s: want %s in %s:\n%s", command, step, phase, text)
		}
		if _, err := runbooks.Lint("f", []byte(text), catalog.New()); err != nil {
			t.Errorf("%s: %v\n%s", command, err, text)
		}
	}
}

// FuzzFromMarkdown: whatever a page holds, what comes of it is read, or refused with a
// place; it never names a fact, a gate or a phrase.
func FuzzFromMarkdown(f *testing.F) {
	f.Add("# A\n\n```\nkubectl get pod <name>\n```\n")
	f.Add("# ${x}\n~~~sh\n$ echo \\\n b\n~~~")
	f.Fuzz(func(t *testing.T, page string) {
		text, _ := FromMarkdown("a-page", page, catalog.New())
		rb, err := runbooks.Parse("f", []byte(text), catalog.New())
		if err != nil {
			return
		}
		for _, s := range rb.Steps {
			if s.Class != "" {
				t.Errorf("a gate %s", s.ID)
			}
		}
	})
}
