package redact

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
)

// cleanPair is a name and a value that must both stay readable, in every syntax in which secrets are written.
func (c *cleanText) cleanPair() (name, value string) {
	b64 := func(n int) string { return c.letters(n, lettersAndDigits+"+/") }
	pairs := [...]func() (string, string){
		// Identifiers and digests.
		func() (string, string) { return "uid", c.uuid() }, func() (string, string) { return "lock id", c.uuid() }, func() (string, string) { return "request id", c.uuid() }, func() (string, string) { return "trace id", c.hex(32) },
		func() (string, string) { return "lineage", c.uuid() }, func() (string, string) { return "serial", fmt.Sprint(c.IntN(9999)) }, func() (string, string) { return "commit sha", c.hex(40) }, func() (string, string) { return "revision", "main@sha1:" + c.hex(40) },
		func() (string, string) { return "image", strings.Fields(c.image())[0] }, func() (string, string) { return "image digest", "sha256:" + c.hex(64) }, func() (string, string) { return "checksum", c.hex(64) }, func() (string, string) { return "role arn", c.arn() },
		func() (string, string) { return "secret arn", c.arn() }, func() (string, string) { return "kms key id", c.arn() }, func() (string, string) { return "key id", c.uuid() }, func() (string, string) { return "access key id hash", c.hex(64) },
		func() (string, string) { return "source code hash", b64(43) + "=" }, func() (string, string) { return "integrity", "sha512-" + b64(86) + "==" }, func() (string, string) { return "etag", c.hex(32) }, func() (string, string) { return "version id", b64(32) },
		func() (string, string) { return "fingerprint", "SHA256:" + b64(43) }, func() (string, string) { return "public key", "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI" + b64(43) }, func() (string, string) { return "instance id", "i-" + c.hex(17) }, func() (string, string) { return "run id", "run-" + c.letters(16, lettersAndDigits) },
		func() (string, string) { return "pod", c.pod() }, func() (string, string) {
			return "node", "gke-prod-pool-1-" + c.hex(8) + "-" + c.letters(4, "bcdfghjklm")
		}, func() (string, string) { return "host", c.name() + ".eu-central-1.rds.amazonaws.com" }, func() (string, string) { return "server", "https://10.0.3.7:6443" },
		func() (string, string) { return "cache key", c.hex(64) }, func() (string, string) { return "partition key", c.uuid() }, func() (string, string) { return "idempotency key", c.uuid() }, func() (string, string) { return "object key", "states/" + c.name() + "/terraform.tfstate" },
		func() (string, string) { return "holder identity", c.pod() + "_" + c.uuid() }, func() (string, string) { return "resource version", fmt.Sprint(c.IntN(999999999)) }, func() (string, string) { return "created", c.stamp() }, func() (string, string) { return "who", "runner@" + c.pod() },
		// Names, paths and places of secrets.
		func() (string, string) { return "secret name", c.name() + "-credentials" }, func() (string, string) { return "password file", "/run/secrets/" + c.name() }, func() (string, string) { return "token url", "https://" + c.name() + ".example/oauth2/token" }, func() (string, string) { return "token path", "/var/run/secrets/kubernetes.io/serviceaccount/token" },
		func() (string, string) { return "client key path", "/etc/pki/" + c.name() + "/tls.key" }, func() (string, string) { return "credentials file", "/home/app/.aws/credentials" }, func() (string, string) { return "secret ref", c.name() + "/db" }, func() (string, string) { return "key name", c.pick("password", "token", "tls.key") },
		func() (string, string) { return "ssl key", "/etc/ssl/private/" + c.name() + ".key" }, func() (string, string) { return "keytab", "/etc/krb5.keytab" }, func() (string, string) { return "sort key", c.pick("name", "created") }, func() (string, string) { return "ssh host key", "ssh-ed25519" },
		func() (string, string) { return "auth type", c.pick("oidc", "basic", "mtls") }, func() (string, string) { return "auth", c.pick("none", "oidc", "kerberos") }, func() (string, string) { return "encrypt", c.pick("true", "false") }, func() (string, string) { return "key", c.pick("region", "zone", "kubernetes.io/arch") },
		// Values under telling names that are none.
		func() (string, string) { return "password", c.pick("null", "true", "false", "none") }, func() (string, string) {
			return "client secret", c.pick("(sensitive value)", "(known after apply)", "<redacted>", "***")
		}, func() (string, string) {
			return "api token", c.pick("$TOKEN", "${API_TOKEN}", "$(TOKEN)", "var.api_token")
		}, func() (string, string) { return "db password", "random_password.db.result" },
		func() (string, string) { return "api key", "${{ secrets.API_KEY }}" }, func() (string, string) { return "password", "{{ .Values.db.password }}" }, func() (string, string) { return "secret", "vault:secret/data/" + c.name() }, func() (string, string) { return "token count", fmt.Sprint(c.IntN(4096)) },
		func() (string, string) { return "password length", fmt.Sprint(c.IntN(64)) }, func() (string, string) { return "token ttl", fmt.Sprintf("%dh0m0s", c.IntN(48)) }, func() (string, string) { return "password policy", c.pick("strict", "relaxed") }, func() (string, string) { return "secret version", fmt.Sprint(c.IntN(40)) },
		// What is like nothing else.
		func() (string, string) { return "class", "TestS3BucketV2PolicyAttachment1Controller" }, func() (string, string) { return "symbol", "k8s.io/apimachinery/pkg/util/wait.JitterUntilWithContext" }, func() (string, string) { return "file", "/usr/lib/x86_64-linux-gnu/libQt5XcbQpa.so.5.15.2" }, func() (string, string) { return "branch", "feature/PROJ-1234-Add-OAuth2-Login" },
		func() (string, string) {
			return "text", base64.StdEncoding.EncodeToString([]byte("The " + c.name() + " was restarted twice since " + c.stamp()))
		},
		func() (string, string) {
			return "user agent", "Terraform/1.12.6 (+https://www.terraform.io) aws-sdk-go-v2/1.36.3"
		}, func() (string, string) { return "time zone", "America/Argentina/ComodRivadavia" }, func() (string, string) { return "annotation", "pv.kubernetes.io/bind-completed" }, func() (string, string) { return "metric", "apiserver_flowcontrol_rejected_requests_total" },
	}
	return pairs[c.IntN(len(pairs))]()
}

// cleanSentence speaks of secrets and holds none.
func (c *cleanText) cleanSentence() string {
	n := c.name()
	return c.pick(
		"The password of "+n+" was rotated on 2026-11-21; the old token no longer works.",
		"password authentication failed for user \""+n+"\"",
		"Error: the secret "+n+"-credentials was not found in namespace apps",
		"secret/"+n+" created",
		"could not find expected key password in Secret apps/"+n,
		"Enter the user, password and host of "+n+", then press Enter.",
		"token expired 3m ago, please log in again",
		"The API key is missing; the header X-API-Key must be set",
		"msg=\"authorization: denied for user "+n+"\"",
		"Authorization: a person of the team must agree first",
		"passwords:",
		"password:",
		"NAME            READY   SECRET               AGE\n"+n+"-tls   True    "+n+"-tls-cert   3d",
		"NAME   TYPE   DATA   AGE\n"+n+"   Opaque   3   9d",
		"kubectl create secret generic "+n+" --from-file=password=./password.txt",
		"kubectl get secret "+n+" -o jsonpath='{.data.password}'",
		"PASS: TestPasswordReset (0.01s)",
		"pass 3 of 5",
		"key: value pairs are sorted",
		"Rotate the key of "+n+" every 90 days; keys older than that are refused.",
		"curl -H \"Authorization: Bearer $TOKEN\" https://"+n+".example",
		"vault kv get -field=password secret/"+n,
		"export DB_PASSWORD=\"$(cat /run/secrets/"+n+")\"",
		"export TOKEN=$(vault print token)",
		"password = file(\"/run/secrets/"+n+"\")",
		"password = lookup(var.passwords, \""+n+"\", null)",
		"db_password = data.aws_secretsmanager_secret_version."+strings.ReplaceAll(n, "-", "_")+".secret_string",
		"  # aws_secretsmanager_secret."+strings.ReplaceAll(n, "-", "_")+" will be created",
		"<password>${db.password}</password>",
		"<secret name=\""+n+"\"/>",
		"requirepass is not set; clients may connect without a password",
		"AUTH LOGIN",
		"auth required pam_unix.so nullok",
		"secret:\n  secretName: "+n+"\n  optional: false",
		"      volumes:\n      - name: token\n        projected:\n          sources:\n          - serviceAccountToken:\n              path: token\n              expirationSeconds: 3607",
		"env:\n- name: DB_PASSWORD\n  valueFrom:\n    secretKeyRef:\n      name: "+n+"\n      key: password",
		"variable \"db_password\" {\n  type        = string\n  description = \"the password of "+n+"\"\n  sensitive   = true\n}",
		"output \"token\" {\n  value     = vault_token."+strings.ReplaceAll(n, "-", "_")+".client_token\n  sensitive = true\n}",
		"Outputs:\n\ndb_password = <sensitive>\nurl = \"https://"+n+".example\"",
		"{\"password\": {\"type\": \"string\", \"minLength\": 12, \"description\": \"at least twelve letters\"}}",
		"{\"token\": {\"type\": \"boolean\"}, \"secret\": {\"name\": \""+n+"\", \"optional\": true}}",
		"{\"name\":\"DB_PASSWORD\",\"valueFrom\":{\"secretKeyRef\":{\"name\":\""+n+"\",\"key\":\"password\"}}}",
		"{\"@level\":\"info\",\"@message\":\"Outputs: 1\",\"outputs\":{\"password\":{\"sensitive\":true,\"type\":\"string\"}},\"type\":\"outputs\"}",
		"tokens:\n  max: 4096\n  used: 12",
		"user,role,last_login\nrobin,admin,2026-11-21",
		"password,required,string,the password of the user",
		"Signed-off-by: Robin Example <robin@example.com>",
		"x-amz-id-2: see the request id "+c.uuid(),
		"-----BEGIN CERTIFICATE-----\n"+c.letters(64, lettersAndDigits+"+/")+"\n"+c.letters(64, lettersAndDigits+"+/")+"\n-----END CERTIFICATE-----",
		"2026-11-21T02:14:07.123456Z I1121 kubelet[812]: \"SyncLoop ADD\" source=\"api\" pods=[\"apps/"+c.pod()+"\"]",
		"module."+strings.ReplaceAll(n, "-", "_")+".aws_iam_access_key.this: Refreshing state... [id=AIDA"+c.letters(17, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567")+"]",
	)
}

// TestCleanForms writes what is no secret in every syntax in which secrets are written.
func TestCleanForms(t *testing.T) {
	if testing.Short() {
		t.Skip("too long for -short")
	}
	t.Parallel()
	r := testRedactor()
	c := newCleanText(9)
	rounds := 90
	if *everyForm {
		rounds = 2000
	}
	touched, lines := 0, 0
	try := func(what, in string) {
		lines += strings.Count(in, "\n") + 1
		out, _ := stream(r, "text/plain", []byte(in))
		if out == in {
			return
		}
		if touched++; touched <= missedMost {
			t.Logf("%s: %q became %q", what, in, out)
		}
	}
	for range rounds {
		for _, w := range writings {
			name, v := c.cleanPair()
			text, ok := w.write(name, v)
			// Without its name before it, a digest in base64 is like any other random value.
			table := strings.Contains(w.text, "robin") || w.name == "SQL insert"
			if !ok || table && (name == "version id" || name == "source code hash") || strings.Contains(w.text, "$") || strings.Contains(w.text, "{") && strings.Contains(v, "{") {
				continue
			}
			try(w.name+", "+name, "start\n"+text+"\nend\n")
			try("sentence", c.cleanSentence()+"\n"+c.line()+"\n")
		}
	}
	t.Logf("%d of %d clean lines in the forms of secrets touched", touched, lines)
	if touched*10_000 > falseMost*lines {
		t.Errorf("%d of %d clean lines touched, want at most %d in 10,000", touched, lines, falseMost)
	}
}
