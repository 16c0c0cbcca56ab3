// Command handrail-lab is the practice cluster in one program: etcd, kube-apiserver and kube-controller-manager from
// pinned modules, and the small supervisor that keeps the three together. The first argument picks the role, so one
// link (and one file in the cache) serves them all.
package main

import (
	"fmt"
	"os"
	"runtime"

	"go.etcd.io/etcd/server/v3/etcdmain"
	"k8s.io/component-base/cli"
	"k8s.io/component-base/version"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllers "k8s.io/kubernetes/cmd/kube-controller-manager/app"

	etcdversion "go.etcd.io/etcd/api/v3/version"
)

const usage = "usage: handrail-lab etcd|kube-apiserver|kube-controller-manager|supervise|version [flags]"

func main() {
	// Children are bound to the thread that starts them (Pdeathsig), so the supervisor must stay on the first one.
	runtime.LockOSThread()
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, usage)
		os.Exit(2)
	}
	role := os.Args[1]
	// Each role parses os.Args as if it had been started under its own name.
	os.Args = append([]string{role}, os.Args[2:]...)
	os.Exit(run(role))
}

func run(role string) int {
	switch role {
	case "etcd":
		etcdmain.Main(os.Args)
		return 0
	case "kube-apiserver":
		return cli.Run(apiserver.NewAPIServerCommand())
	case "kube-controller-manager":
		return cli.Run(controllers.NewControllerManagerCommand())
	case "supervise":
		if err := supervise(os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, "supervise:", err)
			return 1
		}
		return 0
	case "version":
		fmt.Printf("kubernetes %s\netcd v%s\n", version.Get().GitVersion, etcdversion.Version)
		return 0
	}
	fmt.Fprintf(os.Stderr, "unknown role %q\n%s\n", role, usage)
	return 2
}
