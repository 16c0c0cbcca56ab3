package cli

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"time"

	authv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	authclient "k8s.io/client-go/kubernetes/typed/authentication/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"handrail/steps/transport"
	"handrail/triage"
)

// askWithin bounds a question to an API server that nobody waits for.
const askWithin = 5 * time.Second

var errNoKubeconfig = errors.New("no kubeconfig names a cluster")

// cluster is what the kubeconfig says of the cluster in question; nothing was
// asked of it yet.
type cluster struct {
	context   string
	namespace string
	config    *rest.Config
}

// cluster reads the kubeconfig by kubectl's rules, from the given environment:
// --kubeconfig, KUBECONFIG, then ~/.kube/config.
func (p *program) cluster() (cluster, error) {
	rules := &clientcmd.ClientConfigLoadingRules{ExplicitPath: p.kubeconfig}
	if list := p.getenv("KUBECONFIG"); list != "" {
		rules.Precedence = filepath.SplitList(list)
	} else if home := p.home(); home != "" {
		rules.Precedence = []string{filepath.Join(home, ".kube", "config")}
	}
	over := &clientcmd.ConfigOverrides{CurrentContext: p.context}
	over.Context.Namespace = p.namespace
	load := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, over)
	raw, err := load.RawConfig()
	if err != nil {
		return cluster{}, fmt.Errorf("reading the kubeconfig: %w", err)
	}
	if len(raw.Contexts) == 0 && len(raw.Clusters) == 0 {
		// client-go would fall back to a cluster it runs in, or to localhost.
		return cluster{}, errNoKubeconfig
	}
	config, err := load.ClientConfig()
	if err != nil {
		return cluster{}, fmt.Errorf("reading the kubeconfig: %w", err)
	}
	c := cluster{context: p.context, config: config}
	if c.context == "" {
		c.context = raw.CurrentContext
	}
	c.namespace, _, err = load.Namespace()
	return c, err
}

// readOnly returns a copy of the client configuration that cannot write.
func (c cluster) readOnly() *rest.Config {
	config := rest.CopyConfig(c.config)
	config.Timeout = askWithin
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return transport.Probe(next, config.Host)
	})
	return config
}

// whoami asks the API server who is asking. Nothing is stored there.
func (c cluster) whoami(ctx context.Context) (triage.Person, error) {
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	client, err := authclient.NewForConfig(c.readOnly())
	if err != nil {
		return triage.Person{}, fmt.Errorf("asking %q who acts: %w", c.config.Host, err)
	}
	review, err := client.SelfSubjectReviews().Create(ctx, &authv1.SelfSubjectReview{}, metav1.CreateOptions{})
	if err != nil {
		return triage.Person{}, fmt.Errorf("asking %q who acts: %w", c.config.Host, err)
	}
	name := review.Status.UserInfo.Username
	if name == "" {
		return triage.Person{}, fmt.Errorf("asking %q who acts: the answer names nobody", c.config.Host)
	}
	return triage.Person{ID: name, Name: name, Proof: "kube", Subject: name + "@" + c.config.Host, Roles: nil}, nil
}
