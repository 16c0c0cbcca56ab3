package redact

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// cleanText makes lines of what incidents are full of and what holds no secret: plans and applies, kubectl, controllers'
// logs, digests, ids. The same seed gives the same text.
type cleanText struct {
	*rand.Rand
	at time.Time
}

func (c *cleanText) hex(n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = "0123456789abcdef"[c.IntN(16)]
	}
	return string(b)
}

func (c *cleanText) letters(n int, alphabet string) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = alphabet[c.IntN(len(alphabet))]
	}
	return string(b)
}

func (c *cleanText) uuid() string {
	return c.hex(8) + "-" + c.hex(4) + "-4" + c.hex(3) + "-a" + c.hex(3) + "-" + c.hex(12)
}

func (c *cleanText) pick(words ...string) string { return words[c.IntN(len(words))] }

func (c *cleanText) name() string {
	return c.pick("api", "checkout", "payments", "token-service", "secret-store", "auth-proxy", "password-reset", "session-cache", "cert-manager",
		"vault-agent", "external-secrets", "kustomize-controller", "source-controller", "redis", "postgres", "login", "keycloak")
}

func (c *cleanText) pod() string {
	return c.name() + "-" + c.letters(10, "bcdfghjklmnpqrstvwxz2456789") + "-" + c.letters(5, "bcdfghjklmnpqrstvwxz2456789")
}

func (c *cleanText) stamp() string {
	c.at = c.at.Add(time.Duration(c.IntN(4000)) * time.Millisecond)
	return c.at.Format("2006-01-02T15:04:05.000Z")
}

func (c *cleanText) image() string {
	return c.pick("ghcr.io/fluxcd/", "registry.k8s.io/", "docker.io/library/", "123456789012.dkr.ecr.eu-central-1.amazonaws.com/") + c.name() +
		fmt.Sprintf(":v%d.%d.%d@sha256:", c.IntN(4), c.IntN(30), c.IntN(20)) + c.hex(64)
}

func (c *cleanText) arn() string {
	return c.pick("arn:aws:iam::123456789012:role/", "arn:aws:secretsmanager:eu-central-1:123456789012:secret:", "arn:aws:kms:eu-central-1:123456789012:key/") +
		c.name() + "-" + c.letters(6, lettersAndDigits)
}

func (c *cleanText) resource() string {
	return c.pick("aws_instance", "aws_secretsmanager_secret", "random_password", "aws_iam_access_key", "kubernetes_secret", "tls_private_key",
		"azurerm_key_vault_secret", "google_service_account_key", "vault_token", "module.auth.aws_db_instance") + "." + c.pick("main", "db", "api_token", "this", "password")
}

// line is one line of clean text.
func (c *cleanText) line() string {
	kinds := []func() string{
		func() string {
			return fmt.Sprintf(`%s level=info controller=kustomization controllerGroup=kustomize.toolkit.fluxcd.io name=%s namespace=flux-system reconcileID=%s msg="Reconciliation finished in %dms, next run in 10m0s" revision=main@sha1:%s`, c.stamp(), c.name(), c.uuid(), c.IntN(900), c.hex(40))
		},
		func() string {
			return fmt.Sprintf(`{"level":"%s","ts":"%s","msg":"reconciling","controller":"helmrelease","HelmRelease":{"name":"%s","namespace":"apps"},"reconcileID":"%s","revision":"sha256:%s"}`, c.pick("info", "error"), c.stamp(), c.name(), c.uuid(), c.hex(64))
		},
		func() string {
			return fmt.Sprintf(`%s E1121 02:14:07.%06d       1 reflector.go:%d] "Failed to watch" err="failed to list *v1.Secret: secrets is forbidden: User \"system:serviceaccount:%s:%s\" cannot list resource \"secrets\" in API group \"\" at the cluster scope" type="*v1.Secret"`, c.stamp(), c.IntN(999999), c.IntN(900), c.name(), c.name())
		},
		func() string {
			return fmt.Sprintf("%s   %d/1     %s   %d (%dm ago)   %dh   10.%d.%d.%d   ip-10-0-%d-%d.ec2.internal   <none>", c.pod(), c.IntN(2), c.pick("Running", "CrashLoopBackOff", "ImagePullBackOff", "CreateContainerConfigError"), c.IntN(9), c.IntN(59), c.IntN(99), c.IntN(255), c.IntN(255), c.IntN(255), c.IntN(255), c.IntN(255))
		},
		func() string {
			return fmt.Sprintf("%s   %s   %d      %dd", c.name()+"-token-"+c.letters(5, "bcdfghjklm"), c.pick("kubernetes.io/service-account-token", "Opaque", "kubernetes.io/dockerconfigjson", "helm.sh/release.v1"), c.IntN(5), c.IntN(300))
		},
		func() string { return "    Image:         " + c.image() },
		func() string { return "    Container ID:  containerd://" + c.hex(64) },
		func() string {
			return "      " + c.pick("DB_PASSWORD", "API_TOKEN", "AWS_SECRET_ACCESS_KEY", "CLIENT_SECRET") + ":  <set to the key '" + c.pick("password", "token", "key") + "' in secret '" + c.name() + "'>  Optional: false"
		},
		func() string {
			return fmt.Sprintf("Warning  Failed     %ds (x%d over %dm)  kubelet            Error: secret %q not found", c.IntN(59), c.IntN(20), c.IntN(59), c.name())
		},
		func() string {
			return fmt.Sprintf("  %s %s will be %s", "#", c.resource(), c.pick("created", "destroyed", "updated in-place", "replaced, as requested"))
		},
		func() string {
			return `      ` + c.pick("+", "-", "~") + ` ` + c.pick("password ", "secret   ", "token    ", "private_key", "client_secret", "secret_string") + ` = ` + c.pick("(sensitive value)", "(known after apply)", "(sensitive value) # forces replacement", "null")
		},
		func() string {
			return fmt.Sprintf("      + %s = %q", c.pick("id", "arn", "kms_key_id", "secret_arn", "role_arn", "policy_arn"), c.arn())
		},
		func() string {
			return fmt.Sprintf("      ~ %s = %d -> %d", c.pick("max_token_age", "password_length", "minimum_password_length", "token_ttl", "secret_version_count", "token_max_ttl", "password_reuse_prevention"), c.IntN(90), c.IntN(90))
		},
		func() string {
			return fmt.Sprintf("%s: %s [id=%s]", c.resource(), c.pick("Refreshing state...", "Creation complete after 2s", "Still creating... [10s elapsed]", "Destruction complete after 1s"), c.pick(c.uuid(), "i-"+c.hex(17), c.arn(), "sg-"+c.hex(17), "none"))
		},
		func() string {
			return fmt.Sprintf("Plan: %d to add, %d to change, %d to destroy.", c.IntN(9), c.IntN(9), c.IntN(9))
		},
		func() string {
			return "  ID:        " + c.uuid() + "\n  Path:      states/" + c.name() + "/terraform.tfstate\n  Operation: OperationTypeApply\n  Who:       runner@" + c.pod() + "\n  Version:   1.12.6\n  Created:   " + c.stamp()
		},
		func() string {
			return "commit " + c.hex(40) + "\nAuthor: Robin Example <robin@example.com>\n    Rotate the " + c.pick("token", "password", "secret", "API key") + " of " + c.name()
		},
		func() string {
			return c.hex(7) + " " + c.pick("Fix token refresh: retry once", "secrets: move to external store", "password reset: longer link", "auth: drop basic", "key: rotate") + " (#" + fmt.Sprint(c.IntN(9000)) + ")"
		},
		func() string {
			return fmt.Sprintf("  uid: %s\n  resourceVersion: %q\n  generation: %d", c.uuid(), fmt.Sprint(c.IntN(999999999)), c.IntN(90))
		},
		func() string {
			return "        secretKeyRef:\n          name: " + c.name() + "\n          key: " + c.pick("password", "token", "api-key")
		},
		func() string { return "  secretName: " + c.name() + "-tls" },
		func() string { return "  tokenSecretRef: {name: " + c.name() + ", key: token}" },
		func() string {
			return "automountServiceAccountToken: false\n  imagePullSecrets:\n  - name: " + c.name()
		},
		func() string {
			return `  annotations: {checksum/config: ` + c.hex(64) + `, checksum/secret: ` + c.hex(64) + `}`
		},
		func() string {
			return "-----BEGIN CERTIFICATE-----\n" + c.letters(64, lettersAndDigits+"+/") + "\n" + c.letters(64, lettersAndDigits+"+/") + "\n-----END CERTIFICATE-----"
		},
		func() string {
			return "    certificate-authority-data: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JS" + c.letters(80, lettersAndDigits+"+/")
		},
		func() string {
			return "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI" + c.letters(43, lettersAndDigits+"+/") + " robin@laptop"
		},
		func() string { return "SHA256:" + c.letters(43, lettersAndDigits+"+/") + " robin@laptop (ED25519)" },
		func() string {
			return "h1:" + base64.StdEncoding.EncodeToString([]byte(c.letters(32, lettersAndDigits))) + ","
		},
		func() string {
			return "golang.org/x/crypto v0.58.0 h1:" + c.letters(43, lettersAndDigits+"+/") + "="
		},
		func() string {
			return `  "integrity": "sha512-` + c.letters(86, lettersAndDigits+"+/") + `==",`
		},
		func() string {
			return fmt.Sprintf(`10.0.%d.%d - - [21/Nov/2026:02:14:%02d +0000] "GET /api/v1/%s?page=%d&order=key&limit=50 HTTP/2.0" 200 %d "-" "kube-probe/1.36" %s`, c.IntN(255), c.IntN(255), c.IntN(59), c.pick("tokens", "secrets", "users/password-policy", "items"), c.IntN(50), c.IntN(99999), c.uuid())
		},
		func() string {
			return fmt.Sprintf("time=%q level=warning msg=%q app=%s", c.stamp(), c.pick("token expired, requesting a new one", "invalid token: unexpected end of file", "password authentication failed for user app",
				"secret not found, using default", "authorization denied", "unable to decode token: illegal base64", "no credentials found, falling back to anonymous", "API key missing"), c.name())
		},
		func() string {
			return c.pick("traceparent: 00-", "x-request-id: ", "x-amzn-requestid: ", "ETag: W/\"") + c.hex(32) + "-" + c.hex(16) + "-01"
		},
		func() string {
			return fmt.Sprintf("prompt_tokens: %d completion_tokens: %d total_tokens=%d max_token_count: %d", c.IntN(5000), c.IntN(5000), c.IntN(9999), c.IntN(9999))
		},
		func() string {
			return "/usr/lib/x86_64-linux-gnu/" + c.name() + "/Contents/Resources/" + c.letters(12, lettersAndDigits) + "/" + c.pod()
		},
		func() string {
			return fmt.Sprintf("goroutine %d [running]:\nmain.(*%sController).refreshToken(0xc000%s, {0x%s, 0x%s})\n\t/src/%s/token.go:%d +0x%s", c.IntN(900), c.pick("Secret", "Token"), c.hex(6), c.hex(6), c.hex(2), c.name(), c.IntN(900), c.hex(3))
		},
		func() string {
			return "https://" + c.name() + ".example:8443/oauth2/callback?state=" + c.pick("ready", "open") + "&page=" + fmt.Sprint(c.IntN(9)) + "#section"
		},
		func() string {
			return `Error: acquiring the state lock: ConditionalCheckFailedException: The conditional request failed, RequestID: ` + c.letters(52, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
		},
		func() string { return `variable "db_password" {` + "\n  type      = string\n  sensitive = true\n}" },
		func() string {
			return `  password = var.db_password` + "\n" + `  token    = data.vault_generic_secret.` + c.pick("db", "api") + `.data["token"]` + "\n  secret   = random_password.db.result"
		},
		func() string {
			return `    - "${{ secrets.GITHUB_TOKEN }}"` + "\n      password: ${{ secrets.REGISTRY_PASSWORD }}\n      token: ${TOKEN}"
		},
		func() string {
			return fmt.Sprintf("kube_secret_info{namespace=%q,secret=%q} 1\nworkqueue_depth{name=\"token_cleaner\"} %d", c.name(), c.name(), c.IntN(9))
		},
		func() string {
			return "--service-account-key-file=/etc/kubernetes/pki/sa.pub --service-account-signing-key-file=/etc/kubernetes/pki/sa.key --authorization-mode=Node,RBAC --enable-bootstrap-token-auth=true --token-ttl=24h0m0s"
		},
		func() string {
			return "apiVersion: v1\ndata:\n  LOG_LEVEL: info\n  REGION: eu-central-1\nkind: ConfigMap\nmetadata:\n  name: " + c.name()
		},
		func() string { return `kind: Secret` + "\nmetadata:\n  name: " + c.name() + "\ntype: Opaque" },
		func() string {
			return fmt.Sprintf("leader election: lease %s/%s held by %s_%s, renewed %s", c.name(), c.name(), c.pod(), c.uuid(), c.stamp())
		},
		func() string {
			return "docker.io/library/postgres@sha256:" + c.hex(64) + " " + c.hex(12) + " 3 weeks ago 432MB"
		},
	}
	return kinds[c.IntN(len(kinds))]()
}

func newCleanText(seed uint64) *cleanText {
	return &cleanText{rand.New(rand.NewPCG(seed, 1)), time.Date(2026, 11, 21, 2, 14, 0, 0, time.UTC)}
}

// falseMost is how many of ten thousand clean lines may be touched.
const falseMost = 1

func TestCleanTextStays(t *testing.T) {
	if testing.Short() {
		t.Skip("too long for -short")
	}
	t.Parallel()
	const lines = 200_000
	r := testRedactor()
	c := newCleanText(1)
	touched, n := 0, 0
	var batch strings.Builder
	for n < lines {
		batch.WriteString(c.line())
		batch.WriteByte('\n')
		if batch.Len() < 64<<10 {
			continue
		}
		in := batch.String()
		batch.Reset()
		out, _ := stream(r, "text/plain", []byte(in))
		n += strings.Count(in, "\n")
		if out == in {
			continue
		}
		// Line by line is told from what the whole made of it.
		was, is := strings.Split(in, "\n"), strings.Split(out, "\n")
		for i := range was {
			if i >= len(is) || was[i] != is[i] {
				if touched++; touched <= 20 {
					got := "(fewer lines)"
					if i < len(is) {
						got = is[i]
					}
					t.Logf("line %q became %q", was[i], got)
				}
				if len(is) != len(was) {
					break
				}
			}
		}
	}
	t.Logf("%d of %d clean lines touched", touched, n)
	if touched*10_000 > falseMost*n {
		t.Errorf("%d of %d clean lines touched, want at most %d in 10,000", touched, n, falseMost)
	}
}
