package lab

import (
	"fmt"
	"path/filepath"
	"time"
)

// plan is read by the supervisor, a role of the cluster program, which knows no flags of its own.
type plan struct {
	Nonce     string        `json:"nonce"`
	Linger    time.Duration `json:"linger"`
	Processes []processPlan `json:"processes"`
}

type processPlan struct {
	Name    string   `json:"name"`
	Args    []string `json:"args"`
	Await   string   `json:"await,omitempty"`    // started once this answers 200
	AwaitCA string   `json:"await_ca,omitempty"` // with this file as the only root
}

// ports of one lab, all on 127.0.0.1.
type ports struct{ etcd, peer, api, controllers int }

func (p ports) url() string { return local("https", p.api) }

func local(scheme string, port int) string { return fmt.Sprintf("%s://127.0.0.1:%d", scheme, port) }

// servingCA is the certificate that the API server makes for itself; it is its own root.
func servingCA(dir string) string { return filepath.Join(dir, "apiserver", "apiserver.crt") }

// processes lists the servers in start order. Nothing here may listen on or dial anything but loopback.
func processes(dir string, p ports) []processPlan {
	in := func(name string) string { return filepath.Join(dir, name) }
	etcd, peer := local("https", p.etcd), local("https", p.peer)
	cert, key := in(fileEtcdCert), in(fileEtcdKey)
	return []processPlan{
		{Name: "etcd", Args: []string{"etcd",
			"--data-dir=" + in("etcd"),
			"--listen-client-urls=" + etcd, "--advertise-client-urls=" + etcd,
			"--listen-peer-urls=" + peer, "--initial-advertise-peer-urls=" + peer,
			"--initial-cluster=default=" + peer,
			// A user who may write to it is above all rights of the cluster, and loopback is open to every user of this machine.
			"--client-cert-auth", "--trusted-ca-file=" + cert, "--cert-file=" + cert, "--key-file=" + key,
			"--peer-client-cert-auth", "--peer-trusted-ca-file=" + cert, "--peer-cert-file=" + cert, "--peer-key-file=" + key,
			"--unsafe-no-fsync", // a lab need not survive a power cut
			"--log-level=error",
		}},
		{Name: "kube-apiserver", Args: []string{"kube-apiserver",
			"--etcd-servers=" + etcd, "--etcd-cafile=" + cert, "--etcd-certfile=" + cert, "--etcd-keyfile=" + key,
			"--bind-address=127.0.0.1", fmt.Sprintf("--secure-port=%d", p.api), "--advertise-address=127.0.0.1",
			"--cert-dir=" + filepath.Dir(servingCA(dir)),
			"--service-cluster-ip-range=10.96.0.0/16",
			"--service-account-issuer=https://kubernetes.default.svc",
			"--service-account-signing-key-file=" + in("sa.key"), "--service-account-key-file=" + in("sa.pub"),
			"--token-auth-file=" + in(fileTokens), "--authorization-mode=RBAC",
			"--audit-policy-file=" + in("audit-policy.yaml"), "--audit-log-path=" + in(fileAudit),
			"--endpoint-reconciler-type=none",
			// Without a kube-proxy a service address would be dialled outside this machine.
			"--enable-aggregator-routing=true",
			"--profiling=false",
		}},
		{Name: "kube-controller-manager", Await: p.url() + "/readyz", AwaitCA: servingCA(dir),
			Args: []string{"kube-controller-manager",
				"--kubeconfig=" + in("controllers.kubeconfig"),
				"--authentication-kubeconfig=" + in("controllers.kubeconfig"),
				"--authorization-kubeconfig=" + in("controllers.kubeconfig"),
				"--bind-address=127.0.0.1", fmt.Sprintf("--secure-port=%d", p.controllers),
				"--cert-dir=" + in("controllers"),
				"--service-account-private-key-file=" + in("sa.key"), "--root-ca-file=" + servingCA(dir),
				"--use-service-account-credentials", // the audit log then names each controller
				"--leader-elect=false",
				"--kube-api-qps=200", "--kube-api-burst=400", // the default throttle is most of a first start
			}},
	}
}
