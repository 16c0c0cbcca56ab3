package lab

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Namespace is a fresh place for one drill or test, with the two identities that the audit log tells apart.
type Namespace struct {
	Name               string
	Robot, Operator    string // user names as the API server and the audit log spell them
	RobotKubeconfig    string // injection; context ContextName-Name
	OperatorKubeconfig string // probes and acts; the same context
}

// tokenLife is longer than any drill and shorter than a forgotten lab.
const tokenLife = 24 * time.Hour

type object map[string]any

// Namespace creates a namespace whose name starts with prefix, its accounts and their rights, and returns once the
// rights are in force. The kubeconfigs go away with DeleteNamespace or with the lab.
func (l *Lab) Namespace(ctx context.Context, prefix string) (Namespace, error) {
	ns := Namespace{Name: prefix + "-" + randomHex(3)}
	wrap := func(err error) error { return fmt.Errorf("making namespace %q in the lab: %w", ns.Name, err) }
	if !leaseName.MatchString(ns.Name) {
		return Namespace{}, wrap(errors.New("want lower-case letters, digits and hyphens, 63 at most"))
	}
	if err := l.grant(ctx, ns.Name); err != nil {
		return Namespace{}, wrap(err)
	}
	for _, account := range []struct {
		name             string
		user, kubeconfig *string
	}{{"robot", &ns.Robot, &ns.RobotKubeconfig}, {"operator", &ns.Operator, &ns.OperatorKubeconfig}} {
		*account.user = "system:serviceaccount:" + ns.Name + ":" + account.name
		*account.kubeconfig = filepath.Join(l.dir, dirAccount, ns.Name+"-"+account.name+".kubeconfig")
		if err := l.admit(ctx, ns.Name, account.name, *account.kubeconfig); err != nil {
			return Namespace{}, wrap(err)
		}
	}
	return ns, nil
}

// DeleteNamespace removes the namespace and what Namespace made beside it. It returns when the API server has taken
// the request; objects with finalizers keep the namespace Terminating, as anywhere.
func (l *Lab) DeleteNamespace(ctx context.Context, name string) error {
	var errs []error
	for _, path := range []string{"/api/v1/namespaces/" + url.PathEscape(name), bindings + "/" + url.PathEscape(readers(name))} {
		if err := l.client.do(ctx, http.MethodDelete, path, nil, nil); err != nil && !hasCode(err, http.StatusNotFound) {
			errs = append(errs, fmt.Errorf("deleting namespace %q of the lab: %w", name, err))
		}
	}
	errs = append(errs, l.depart(ctx, name)) // now that nothing new can come
	files, err := filepath.Glob(filepath.Join(l.dir, dirAccount, filepath.Base(name)+"-*.kubeconfig"))
	errs = append(errs, err)
	for _, file := range files {
		if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// VacateNamespace removes what lives in a namespace and what Namespace made beside it, and leaves the namespace itself to the
// end of the lab. The deletion of one asks the API server some 250 times, four times for each kind that it serves: tests, which
// make hundreds of them, spend less than a tenth of that.
func (l *Lab) VacateNamespace(ctx context.Context, name string) error {
	err := l.client.do(ctx, http.MethodDelete, bindings+"/"+url.PathEscape(readers(name)), nil, nil)
	if hasCode(err, http.StatusNotFound) {
		err = nil
	}
	errs := []error{err, l.depart(ctx, name)}
	for _, kind := range []string{ // what makes others first
		"/apis/batch/v1 cronjobs", "/apis/batch/v1 jobs", "/apis/autoscaling/v2 horizontalpodautoscalers",
		"/apis/apps/v1 deployments", "/apis/apps/v1 statefulsets", "/apis/apps/v1 daemonsets", "/apis/apps/v1 replicasets",
		"/api/v1 pods", "/api/v1 services", "/api/v1 persistentvolumeclaims", "/api/v1 resourcequotas", "/api/v1 configmaps", "/api/v1 secrets",
		"/apis/coordination.k8s.io/v1 leases", "/apis/policy/v1 poddisruptionbudgets", "/apis/networking.k8s.io/v1 networkpolicies",
		// What is asked of all namespaces when an object is held against Git. A kind that is not defined is not found.
		"/apis/argoproj.io/v1alpha1 applications", "/apis/argoproj.io/v1alpha1 applicationsets",
		"/apis/kustomize.toolkit.fluxcd.io/v1 kustomizations", "/apis/helm.toolkit.fluxcd.io/v2 helmreleases",
		"/apis/source.toolkit.fluxcd.io/v1 gitrepositories", "/apis/source.toolkit.fluxcd.io/v1 helmrepositories",
		"/apis/external-secrets.io/v1 externalsecrets", "/apis/external-secrets.io/v1 secretstores",
		// What is asked of all namespaces when the writers of an object are ranked.
		"/apis/rbac.authorization.k8s.io/v1 rolebindings", "/apis/rbac.authorization.k8s.io/v1 roles",
	} {
		group, plural, _ := strings.Cut(kind, " ")
		if err := l.client.do(ctx, http.MethodDelete, group+"/namespaces/"+url.PathEscape(name)+"/"+plural, nil, nil); err != nil && !hasCode(err, http.StatusNotFound) {
			errs = append(errs, fmt.Errorf("emptying namespace %q of the lab: %w", name, err))
		}
	}
	return errors.Join(errs...)
}

// admit mints a token, writes the kubeconfig and waits until the rights are in force: the authorizer learns of a new
// binding a moment after it was created.
func (l *Lab) admit(ctx context.Context, ns, account, path string) error {
	token, err := l.token(ctx, ns, account)
	if err != nil {
		return err
	}
	file := kubeconfig{server: l.record.URL, ca: l.client.ca, token: token, name: ContextName + "-" + ns, namespace: ns}
	if err := replace(path, file.bytes()); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, inForceWithin, fmt.Errorf("the rights of %s do not come into force", account))
	defer cancel()
	var last error
	err = poll(ctx, func() bool {
		var allowed bool
		allowed, last = l.client.as(token).may(ctx, needs(ns, account))
		return allowed
	})
	if err != nil && last != nil {
		return fmt.Errorf("%w (last answer: %v)", err, last)
	}
	return err
}
