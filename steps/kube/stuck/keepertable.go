package stuck

import (
	"strings"

	"handrail/steps/kube/owner"
)

// known is one row of the table of finalizers: who must remove it, and what is
// left behind when another program does.
type known struct {
	key     string
	prefix  bool // key is only how it starts, up to a slash
	keeper  string
	builtin bool     // part of the control plane: it lives as long as the cluster answers
	outside bool     // may run outside this cluster, so that its absence here proves nothing
	stems   []string // names of its workloads, perhaps after that of a release
	near    []string // in what belongs to it but may be another part of it
	homes   []string // namespaces where it usually lives
	leak    string
	nothing bool // stripping leaves nothing behind
}

// knownFinalizer looks a finalizer up; the most exact row wins.
func knownFinalizer(key string) (known, bool) {
	var best known
	found := false
	for _, k := range knownFinalizers() {
		if k.key == key && !k.prefix {
			return k, true
		}
		if k.prefix && strings.HasPrefix(key, k.key) && len(k.key) > len(best.key) {
			best, found = k, true
		}
	}
	return best, found
}

const (
	controllerManager = "kube-controller-manager"
	apiServer         = "kube-apiserver"
	argoController    = "argocd-application-controller"
	awsBalancer       = "aws-load-balancer-controller"
)

// knownFinalizers is the table. What a controller outside the cluster may keep
// can never be proven dead from inside.
func knownFinalizers() []known {
	argoHome, fluxHome := []string{"argocd"}, []string{"flux-system"}
	argoApp := known{keeper: argoController, stems: []string{argoController}, near: []string{"argocd", "argo-cd"}, homes: argoHome}
	certManager := known{keeper: "cert-manager", stems: []string{"cert-manager"}, homes: []string{"cert-manager"}}
	externalSecrets := known{keeper: "external-secrets", stems: []string{"external-secrets"}, homes: []string{"external-secrets"}}
	crossplane := known{keeper: "crossplane", stems: []string{"crossplane"}, homes: []string{"crossplane-system"}}
	postgres := known{keeper: "cloudnative-pg", stems: []string{"cnpg-controller-manager", "cloudnative-pg"}, near: []string{"cnpg"}, homes: []string{"cnpg-system"}}
	return []known{
		{key: "kubernetes", keeper: controllerManager, builtin: true, leak: "objects of the namespace stay in the store and come back with the next namespace of its name"},
		{key: "kubernetes.io/pvc-protection", keeper: controllerManager, builtin: true, leak: "while a pod uses the claim, its storage is removed under a running process"},
		{key: "kubernetes.io/pv-protection", keeper: controllerManager, builtin: true, leak: "while a claim is bound, its volume is removed under it"},
		{key: "foregroundDeletion", keeper: controllerManager + " (garbage collector)", builtin: true, leak: "its children stay with a dangling owner, then are deleted in the background"},
		{key: "orphan", keeper: controllerManager + " (garbage collector)", builtin: true, leak: "its children keep a reference to an owner that is gone, and are then deleted"},
		{key: "batch.kubernetes.io/job-tracking", keeper: controllerManager + " (job controller)", builtin: true, leak: "the finished pod is never counted, and its Job never completes"},
		{key: "customresourcecleanup.apiextensions.k8s.io", keeper: apiServer, builtin: true, leak: "its custom resources stay in the store and come back with the definition"},
		{key: "kubernetes.io/pv-controller", keeper: controllerManager, builtin: true, leak: "the disk behind the volume stays, and is billed"},
		{key: "kubernetes.io/vac-protection", keeper: controllerManager, builtin: true, leak: "volumes refer to a class that is gone"},
		{key: "resource.kubernetes.io/delete-protection", keeper: controllerManager, builtin: true, leak: "a device claim is removed while pods use it"},
		{key: "networking.k8s.io/service-cidr-finalizer", keeper: controllerManager, builtin: true, leak: "services keep addresses of a range that is gone"},

		{key: "external-provisioner.volume.kubernetes.io/finalizer", keeper: "CSI provisioner", outside: true, leak: "the disk behind the volume stays, and is billed"},
		{key: "external-attacher/", prefix: true, keeper: "CSI attacher", outside: true, leak: "the disk stays attached to a node"},
		{key: "service.kubernetes.io/load-balancer-cleanup", keeper: "cloud-controller-manager", outside: true, leak: "the load balancer stays in the cloud, and is billed"},
		{key: "service.k8s.aws/resources", keeper: awsBalancer, outside: true, leak: "load balancers, target groups and security groups stay"},
		{key: "ingress.k8s.aws/resources", keeper: awsBalancer, outside: true, leak: "load balancers, target groups and security groups stay"},
		{key: "group.ingress.k8s.aws/", prefix: true, keeper: awsBalancer, outside: true, leak: "load balancers, target groups and security groups stay"},
		{key: "gateway.k8s.aws/", prefix: true, keeper: awsBalancer, outside: true, leak: "load balancers, target groups and security groups stay"},
		{key: "elbv2.k8s.aws/resources", keeper: awsBalancer, outside: true, leak: "targets stay registered"},

		argoApp.row("resources-finalizer.argocd.argoproj.io", false, "the deployed workloads stay, unmanaged"),
		argoApp.row("resources-finalizer.argocd.argoproj.io/", true, "the deployed workloads stay, unmanaged"),
		argoApp.row("pre-delete-finalizer.argocd.argoproj.io", false, "hooks that run before the deletion never run"),
		argoApp.row("pre-delete-finalizer.argocd.argoproj.io/", true, "hooks that run before the deletion never run"),
		argoApp.row("post-delete-finalizer.argocd.argoproj.io", false, "hooks that run after the deletion never run"),
		argoApp.row("post-delete-finalizer.argocd.argoproj.io/", true, "hooks that run after the deletion never run"),
		{key: "argocd.argoproj.io/hook-finalizer", keeper: argoController, outside: true, stems: argoApp.stems, near: argoApp.near, homes: argoHome, nothing: true},
		{key: "finalizers.fluxcd.io", keeper: "Flux", near: []string{"kustomize-controller", "helm-controller", "source-controller", "notification-controller", "image-reflector-controller", "image-automation-controller", "fluxcd"}, homes: fluxHome,
			leak: "what it applied or installed stays, unmanaged"},

		certManager.row("acme.cert-manager.io/finalizer", false, "DNS records and solver pods of the challenge stay"),
		certManager.row("finalizer.acme.cert-manager.io", false, "DNS records and solver pods of the challenge stay"),
		externalSecrets.row("externalsecrets.external-secrets.io/", true, "the Secrets that it made stay"),
		externalSecrets.row("secretstore.externalsecrets.io/finalizer", false, "secrets go on naming a store that is gone"),
		externalSecrets.row("pushsecret.externalsecrets.io/finalizer", false, "the copy at the remote provider stays"),
		externalSecrets.row("generatorstate.externalsecrets.io/finalizer", false, "credentials that it generated stay valid"),
		{key: "finalizer.managedresource.crossplane.io", keeper: "Crossplane provider", near: []string{"crossplane", "provider-"}, outside: true, leak: "the real cloud resource lives on, unmanaged"},
		crossplane.row("finalizer.apiextensions.crossplane.io", false, "the composite resource stays"),
		crossplane.row("composite.apiextensions.crossplane.io", false, "the composed resources stay"),
		crossplane.row("defined.apiextensions.crossplane.io", false, "all resources of the definition are abandoned"),
		crossplane.row("offered.apiextensions.crossplane.io", false, "all claims of the definition are abandoned"),
		postgres.row("cnpg.io/deleteDatabase", false, "the database stays inside PostgreSQL"),
		postgres.row("cnpg.io/deletePublication", false, "the publication stays inside PostgreSQL"),
		postgres.row("cnpg.io/deleteSubscription", false, "the subscription stays inside PostgreSQL"),
	}
}

// row is one more finalizer of the same keeper.
func (k known) row(key string, prefix bool, leak string) known {
	k.key, k.prefix, k.leak = key, prefix, leak
	return k
}

// forKind narrows the row to the controller of one kind: each of Flux's removes
// the finalizer that they share from objects of its own group.
func (k known) forKind(group string) known {
	if k.key != "finalizers.fluxcd.io" {
		return k
	}
	switch group {
	case owner.FluxKustomize:
		k.stems = []string{"kustomize-controller"}
	case owner.FluxHelm:
		k.stems = []string{"helm-controller"}
	case "source.toolkit.fluxcd.io":
		k.stems = []string{"source-controller"}
	}
	return k
}
