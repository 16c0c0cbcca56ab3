package inject

import (
	"path/filepath"
	"slices"

	"handrail/drills/lab"
	"handrail/drills/stage"
	"handrail/steps"
)

// Module reports whether the failure happens in a root module, so that the drill
// needs tofu and has a directory and a log.
func (in Steps) Module() bool {
	return slices.ContainsFunc(in, func(s step) bool { return verbs()[s.verb].module })
}

// Node reports whether the drill has a node of its own.
func (in Steps) Node() bool { return in.has("node.run") }

// verbBucket is the verb by which a drill needs no cluster.
const verbBucket = "bucket.run"

// Bucket reports whether the state is in a bucket of the drill's own: it needs no cluster.
func (in Steps) Bucket() bool { return in.has(verbBucket) }

// Apart reports whether none of these injections needs a cluster.
func (in Steps) Apart() bool {
	return !slices.ContainsFunc(in, func(s step) bool {
		return !verbs()[s.verb].apart || slices.Contains(Steps{s}.Programs(), "kubernetes")
	})
}

// Programs are the parts of the lab that these injections run beside the cluster and tofu.
func (in Steps) Programs() []string {
	var names []string
	for _, s := range in {
		runs := map[string][]string{"records.api": {"records"}, "broker.run": {"rabbitmq"}, "node.run": {"writers"}, "webhook.serve": {"writers"}, "helm.upgrade": {"helm"},
			"argocd.run":     {"argocd", "redis", "git"},
			"store.run":      {"external-secrets"},
			"forge.run":      {"gitea"},
			"uploads.run":    {"s3", "prometheus"},
			"replica.fail":   {"mariadb"},
			"gatekeeper.run": {"gatekeeper"},
			"flux.run":       {"source-controller", "kustomize-controller", "git"}}[s.verb]
		switch a := s.act.(type) {
		case module:
			runs = []string{providerOf(a.Dir)}
		case apply:
			runs = []string{providerOf(a.Dir)}
		case jobForge:
			runs = []string{a.Program}
		}
		for _, name := range runs {
			if name != "" && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

func (in Steps) has(verb string) bool {
	return slices.ContainsFunc(in, func(s step) bool { return s.verb == verb })
}

// places are the names of the files that the drill gives.
func (in Steps) places() []string {
	var names []string
	for _, s := range in {
		if a, ok := s.act.(placeFile); ok && !slices.Contains(names, a.As) {
			names = append(names, a.As)
		}
	}
	return names
}

// awsPlaces are the folders of a drill with a stand-in for AWS, by the names of the places.
var awsPlaces = []string{"code", "zones", "secrets", "dashboards", "jobs", "states"}

// Given are the names of the values that a drill with these injections has beside
// what it exports.
func (in Steps) Given() []string {
	names := []string{"namespace"}
	if in.Module() {
		names = append(names, "dir", "log")
	}
	if in.has("space.doom") {
		names = append(names, "beside")
	}
	if in.has("records.api") {
		names = append(names, "api", "api_log", "mirror")
	}
	if in.Node() {
		names = append(names, "reports", "node")
	}
	if in.has("kube.signals") {
		names = append(names, "signals")
	}
	if in.has("broker.run") {
		names = append(names, "broker")
	}
	if in.has("git.publish") {
		names = append(names, "clones")
	}
	if in.has("keycloak.run") {
		names = append(names, "tokens")
	}
	if in.has("forge.run") {
		names = append(names, "records")
	}
	if in.has("uploads.run") {
		names = append(names, "notifications")
	}
	if in.has("aws.run") {
		names = append(names, awsPlaces...)
	}
	if in.has("replica.fail") {
		names = append(names, "error_log")
	}
	if in.has("kube.replica") {
		names = append(names, "replica", "etcd")
	}
	if in.has("registry.run") {
		names = append(names, "registry")
	}
	return append(append(names, in.pushed()...), in.places()...)
}

// Values are what these names stand for once all is injected.
func (in Steps) Values(st *stage.Stage) map[string]steps.Value {
	out := map[string]steps.Value{"namespace": steps.StringOf(st.Rec.Namespace.Name)}
	if in.Module() {
		out["dir"], out["log"] = steps.PathOf(st.Rec.Dir), steps.PathOf(st.Rec.Log)
	}
	if in.has("space.doom") {
		out["beside"] = steps.StringOf(lab.Beside(st.Rec.Namespace.Name))
	}
	if in.has("records.api") {
		out["api"], out["api_log"] = steps.StringOf(st.Rec.API), steps.PathOf(filepath.Join(st.APIDir(), "requests.log"))
		out["mirror"] = steps.PathOf(st.Mirror())
	}
	if in.Node() {
		out["reports"], out["node"] = steps.PathOf(filepath.Join(st.NodeDir(), "reports")), steps.StringOf(st.NodeName())
	}
	if in.has("broker.run") {
		out["broker"] = steps.StringOf(st.Rec.Broker.API)
	}
	if in.has("git.publish") {
		out["clones"] = steps.PathOf(st.GitDir())
	}
	if in.has("keycloak.run") {
		out["tokens"] = steps.PathOf(st.TokensDir())
	}
	if in.has("forge.run") {
		out["records"] = steps.PathOf(st.ForgeRecords())
	}
	if in.has("uploads.run") {
		out["notifications"] = steps.PathOf(st.Notifications())
	}
	if in.has("aws.run") {
		for _, name := range awsPlaces {
			out[name] = steps.PathOf(filepath.Join(st.PlacesDir(), name))
		}
	}
	if in.has("replica.fail") {
		out["error_log"] = steps.PathOf(st.ReplicaLog())
	}
	if in.has("kube.replica") {
		out["replica"], out["etcd"] = steps.StringOf(st.Rec.Replica), steps.PathOf(metricsFile(st))
	}
	if in.has("registry.run") {
		out["registry"] = steps.StringOf(st.Rec.Registry.Addr)
		in.setPushed(st, out)
	}
	for _, name := range in.places() {
		out[name] = steps.PathOf(placed(st, name))
	}
	if in.has("kube.signals") {
		out["signals"] = steps.PathOf(signalsFile(st))
	}
	return out
}
