// Package lab builds, starts and stops the practice lab: a real etcd, kube-apiserver and kube-controller-manager of the
// pinned version, on loopback, without containers, root or kubelets, and a real tofu beside them. Tests start further servers one by one (Services);
// drills/lab/gitops starts the controllers that reconcile a cluster with Git.
//
// Vocabulary. A part is one program built from a module of its own (cluster, tofu); its key is a hash of everything
// that decides what comes out, so a changed pin builds anew and an unchanged one never does. The data directory holds one
// lab; one supervisor process (a role of the cluster program) owns the three servers, and all of them end together.
// A lease says that an ephemeral lab is in use; a lab from `lab up` stays until `lab down`.
//
// Rules.
//   - Everything listens on loopback and dials nothing else. The aggregator routes to endpoints, because without a
//     kube-proxy a service address would leave the machine.
//   - A file in the data directory has one writer and is replaced whole. The lock of the directory is held by the process that
//     starts, stops or leases; locks are the kernel's, so a killed holder blocks no one.
//   - A process is signalled only while its start time is the recorded one.
//   - A binary is built beside its place and renamed into it, so a half-built one is never run.
//
// The package imports nothing of ours and only the standard library.
package lab
