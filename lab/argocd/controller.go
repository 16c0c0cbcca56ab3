package main

import (
	"context"
	"fmt"
	"net"
	"os/signal"
	"syscall"
	"time"

	commitclient "github.com/argoproj/argo-cd/v3/commitserver/apiclient"
	"github.com/argoproj/argo-cd/v3/common"
	"github.com/argoproj/argo-cd/v3/controller"
	"github.com/argoproj/argo-cd/v3/controller/sharding"
	"github.com/argoproj/argo-cd/v3/pkg/apis/application/v1alpha1"
	appclientset "github.com/argoproj/argo-cd/v3/pkg/client/clientset/versioned"
	"github.com/argoproj/argo-cd/v3/pkg/ratelimiter"
	"github.com/argoproj/argo-cd/v3/reposerver/apiclient"
	"github.com/argoproj/argo-cd/v3/util/argo"
	"github.com/argoproj/argo-cd/v3/util/argo/normalizers"
	cacheutil "github.com/argoproj/argo-cd/v3/util/cache"
	appstatecache "github.com/argoproj/argo-cd/v3/util/cache/appstate"
	"github.com/argoproj/argo-cd/v3/util/cli"
	kubeutil "github.com/argoproj/argo-cd/v3/util/kube"
	"github.com/argoproj/argo-cd/v3/util/settings"
	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	_ "sigs.k8s.io/controller-runtime/pkg/controller" // counts work queues: Argo CD's own program holds it for its other roles
)

// controllerFlags are those of argocd-application-controller that the lab uses, by its names and defaults.
type controllerFlags struct {
	repoServer          string
	metrics             string // an address, where the original takes a port and listens on all of the machine's
	resync, jitter      int64  // seconds
	selfHeal            int64  // seconds
	statusProcessors    int
	operationProcessors int
}

// controllerCommand is the application controller of Argo CD's module. Its own command cannot be used: it has no flag
// for the address of its metrics, and would listen outside of loopback.
func controllerCommand() *cobra.Command {
	var f controllerFlags
	cmd := &cobra.Command{Use: common.ApplicationController, SilenceUsage: true, Args: cobra.NoArgs}
	kubeconfig := cli.AddKubectlFlagsToCmd(cmd)
	cache := appstatecache.AddCacheFlagsToCmd(cmd)
	cmd.Flags().StringVar(&f.repoServer, "repo-server", common.DefaultRepoServerAddr, "address of the repository server, which speaks plain text")
	cmd.Flags().StringVar(&f.metrics, "metrics-address", "", "host:port of the metrics, on loopback")
	cmd.Flags().Int64Var(&f.resync, "app-resync", 120, "seconds after which an application is compared again")
	cmd.Flags().Int64Var(&f.jitter, "app-resync-jitter", 60, "seconds of it that are chance")
	cmd.Flags().Int64Var(&f.selfHeal, "self-heal-timeout-seconds", 0, "seconds between attempts to heal")
	cmd.Flags().IntVar(&f.statusProcessors, "status-processors", 20, "applications that are compared at once")
	cmd.Flags().IntVar(&f.operationProcessors, "operation-processors", 10, "operations that run at once")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGINT, syscall.SIGTERM)
		defer stop()
		return f.run(ctx, kubeconfig, cache)
	}
	return cmd
}

func (f controllerFlags) run(ctx context.Context, kubeconfig clientcmd.ClientConfig, cacheOf func() (*appstatecache.Cache, error)) error {
	if host, _, err := net.SplitHostPort(f.metrics); err != nil || !net.ParseIP(host).IsLoopback() {
		return fmt.Errorf("--metrics-address %q: want an address of loopback", f.metrics)
	}
	namespace, _, err := kubeconfig.Namespace()
	if err != nil {
		return err
	}
	config, err := kubeconfig.ClientConfig()
	if err != nil {
		return err
	}
	if err := v1alpha1.SetK8SConfigDefaults(config); err != nil {
		return err
	}
	version := common.GetVersion()
	config.UserAgent = fmt.Sprintf("%s/%s (%s)", common.DefaultApplicationControllerName, version.Version, version.Platform)
	kube, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	apps, err := appclientset.NewForConfig(config)
	if err != nil {
		return err
	}
	cache, err := cacheOf()
	if err != nil {
		return err
	}
	cache.Cache.SetClient(cacheutil.NewTwoLevelClient(cache.Cache.GetClient(), 10*time.Minute))
	var made *controller.ApplicationController
	manager := settings.NewSettingsManager(ctx, kube, namespace, settings.WithRepoOrClusterChangedHandler(func() { made.InvalidateProjectsCache() }))
	shards, err := sharding.GetClusterSharding(kube, manager, common.DefaultShardingAlgorithm, false)
	if err != nil {
		return err
	}
	seconds := func(n int64) time.Duration { return time.Duration(n) * time.Second }
	// What is not ours to set is as in the command of the module.
	made, err = controller.NewApplicationController(namespace, manager, kube, apps,
		apiclient.NewRepoServerClientset(f.repoServer, 60, apiclient.TLSConfiguration{DisableTLS: true}),
		commitclient.NewCommitServerClientset(common.DefaultCommitServerAddr), cache, kubeutil.NewKubectl(),
		seconds(f.resync), 0, seconds(f.jitter), seconds(f.selfHeal),
		&wait.Backoff{Duration: 2 * time.Second, Factor: 3, Cap: 300 * time.Second}, 330*time.Second,
		0, 180*time.Second, 0, 0, nil, nil, nil, 20, false, shards, nil, ratelimiter.GetDefaultAppRateLimiterConfig(),
		false, false, normalizers.IgnoreNormalizerOpts{}, argo.DefaultEnableEventList(), false)
	if err != nil {
		return err
	}
	// Run listens where this says.
	made.GetMetricsServer().Addr = f.metrics
	go made.Run(ctx, f.statusProcessors, f.operationProcessors)
	<-ctx.Done()
	return nil
}
