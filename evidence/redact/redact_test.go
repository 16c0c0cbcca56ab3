package redact

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"handrail/evidence/corpus"
)

func testRedactor(team ...TeamRule) *Redactor {
	r, err := New(bytes.Repeat([]byte{7}, KeySize), team)
	if err != nil {
		panic(err) // a test's own mistake
	}
	return r
}

const pemKey = "-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEAx7Vq0Zt1nYQm3\nq8Jd0sLw2hPz5kRfUeXyTbGvNc4A\n-----END RSA PRIVATE KEY-----"

// planted pairs a text with the part that must not survive.
var planted = []struct{ name, text, secret string }{
	{"pem", pemKey, "MIIEowIBAAKCAQEAx7Vq0Zt1nYQm3"},
	{"pem ec", "-----BEGIN EC PRIVATE KEY-----\nMHcCAQEEIIrYSSNQFaA2Hwf1duRSxK\n-----END EC PRIVATE KEY-----", "MHcCAQEEIIrYSSNQFaA2Hwf1duRSxK"},
	{"pem openssh", "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAABG5vbm\n-----END OPENSSH PRIVATE KEY-----", "b3BlbnNzaC1rZXktdjEAAAAABG5vbm"},
	{"pem cut", "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAA\nmore", "MIIEvQIBADANBgkqhkiG9w0BAQEFAA"},
	{"age", "AGE-SECRET-KEY-1QQPQZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", "QQPQZRY9X8GF2TVDW0S3JN54"},
	{"jwt", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P", "eyJzdWIiOiIxMjM0NTY3ODkwIn0"},
	{"bearer", "Authorization: Bearer q8Jd0sLw2hPz5kRfUeXyTb", "q8Jd0sLw2hPz5kRfUeXyTb"},
	{"bearer bare", "using bearer q8Jd0sLw2hPz5kRfUeXyTb now", "q8Jd0sLw2hPz5kRfUeXyTb"},
	{"basic", "authorization: Basic cm9iaW46aHVudGVyMmh1bnRlcjI=", "cm9iaW46aHVudGVyMmh1bnRlcjI"},
	{"aws id", "AKIAQ3EGRSTUVWXYZ234", "AKIAQ3EGRSTUVWXYZ234"},
	{"aws sts", "ASIAQ3EGRSTUVWXYZ234", "ASIAQ3EGRSTUVWXYZ234"},
	{"aws secret", "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYzz", "wJalrXUtnFEMI/K7MDENG"},
	{"github", "ghp_16C7e42F292c6912E7710c838347Ae178B4a", "16C7e42F292c6912"},
	{"github app", "ghs_16C7e42F292c6912E7710c838347Ae178B4a", "16C7e42F292c6912"},
	{"github pat", "github_pat_11ABCDEFG0abcdefghij_KLMNOPQRSTUV", "11ABCDEFG0abcdefghij"},
	{"gitlab", "glpat-zX9yW8vU7tS6rQ5pO4nM", "zX9yW8vU7tS6rQ5pO4nM"},
	{"slack", "xoxb-123456789012-abcdefABCDEF", "123456789012-abcdef"},
	{"slack hook", "https://hooks.slack.com/services/T00000000/B00000000/XXXXyyyyZZZZ", "T00000000/B00000000"},
	{"stripe", "sk_live_4eC39HqLyjWDarjtT1zdp7dc", "4eC39HqLyjWDarjtT1zdp7dc"},
	{"google", "AIzaSyD-9tSrke72PouQMnMX-a7eZSW0jkFMBWY", "SyD-9tSrke72PouQ"},
	{"vault", "hvs.CAESIJ1yWqk3dZb0Xh2fGmN4", "CAESIJ1yWqk3dZb0Xh2fGmN4"},
	{"npm", "npm_abcdefghijklmnopqrstuvwxyz0123456789", "abcdefghijklmnop"},
	{"sendgrid", "SG.aaaaBBBBccccDDDDeeee.ffffGGGGhhhhIIIIjjjj", "aaaaBBBBccccDDDD"},
	{"tfc", "aBcDeFgHiJkLmN.atlasv1.zzzzYYYYxxxxWWWWvvvvUUUUttttSSSSrrrrQQQQppppOOOOnnnnMMMM", "zzzzYYYYxxxxWWWW"},
	{"url", "postgres://app:s3cr3tp4ssw0rd@db:5432/x", "s3cr3tp4ssw0rd"},
	{"url at", "https://u:p@ss!word123@h/x", "ss!word123"},
	{"dsn", "app:s3cr3tp4ssw0rd@tcp(db:3306)/x", "s3cr3tp4ssw0rd"},
	{"sas", "https://a.blob.core.windows.net/c?sv=1&sig=Zm9vYmFyYmF6cXV4MTIz&se=2", "Zm9vYmFyYmF6cXV4MTIz"},
	{"presigned", "https://b.s3/x?X-Amz-Signature=aabbccddeeff00112233&X-Amz-Date=1", "aabbccddeeff00112233"},
	{"env", "DB_PASSWORD=hunter2hunter2", "hunter2hunter2"},
	{"export", "export API_TOKEN='hunter2hunter2'", "hunter2hunter2"},
	{"hcl", `  master_password      = "hunter2hunter2"`, "hunter2hunter2"},
	{"yaml", "password: hunter2hunter2", "hunter2hunter2"},
	{"yaml words", "  passphrase: correct horse battery staple", "horse battery"},
	{"json", `{"clientSecret":"hunter2hunter2","x":1}`, "hunter2hunter2"},
	{"json escaped quote", `{"password":"hun\"ter2hunter2"}`, "ter2hunter2"},
	{"flag", "mysql --password hunter2hunter2 -h db", "hunter2hunter2"},
	{"flag eq", "helm login --api-key=hunter2hunter2", "hunter2hunter2"},
	{"log", `level=info msg="connecting" password=hunter2hunter2 user=bob`, "hunter2hunter2"},
	{"azure", "DefaultEndpointsProtocol=https;AccountKey=hunter2hunter2hunter2==;X=y", "hunter2hunter2"},
	{"kubeconfig", "    client-key-data: LS0tLS1CRUdJTiBSU0EgUFJJVkFURSBLRVktLS0tLQo=", "LS0tLS1CRUdJTiBS"},
	{"docker", `{"auths":{"r.io":{"auth":"dXNlcjpodW50ZXIyaHVudGVyMg=="}}}`, "dXNlcjpodW50ZXIy"},
	{"npmrc", "//registry/:_authToken=hunter2hunter2", "hunter2hunter2"},
	{"cookie", "Cookie: session=hunter2hunter2", "hunter2hunter2"},
	{"token scheme", "token: Bearer hunter2hunter2", "hunter2hunter2"},
}

func escapeJSON(s string) string {
	b, _ := json.Marshal(map[string]string{"log": s})
	return string(b)
}

func indentYAML(s string) string { return "log: |\n  " + strings.ReplaceAll(s, "\n", "\n  ") + "\n" }

func stream(r *Redactor, media string, chunks ...[]byte) (string, []string) {
	var out bytes.Buffer
	a := r.Artifact(media, &out)
	for _, c := range chunks {
		_, _ = a.Write(c) // a bytes.Buffer takes all
	}
	rules, _ := a.Close()
	return out.String(), rules
}

func TestPlantedSecrets(t *testing.T) {
	t.Parallel()
	r := testRedactor()
	for _, tc := range planted {
		for name, wrap := range map[string]func(string) string{
			"raw":         func(s string) string { return s },
			"in a log":    func(s string) string { return "02:14:07 start\n" + s + "\n02:14:08 end\n" },
			"JSON string": escapeJSON,
			"YAML block":  indentYAML,
		} {
			t.Run(tc.name+"/"+name, func(t *testing.T) {
				in := wrap(tc.text)
				want := string(r.Bytes([]byte(in), nil))
				if strings.Contains(want, tc.secret) {
					t.Fatalf("%q keeps the secret: %q", in, want)
				}
				if again := string(r.Bytes([]byte(want), nil)); again != want {
					t.Fatalf("second pass changes %q to %q", want, again)
				}
				for i := range in {
					if got, _ := stream(r, "text/plain", []byte(in[:i]), []byte(in[i:])); got != want {
						t.Fatalf("split at %d: %q, want %q", i, got, want)
					}
				}
			})
		}
	}
}

func TestShapesInBase64(t *testing.T) {
	t.Parallel()
	r := testRedactor()
	for _, tc := range planted[:20] {
		if tc.name == "age" || strings.HasPrefix(tc.name, "slack hook") || strings.HasPrefix(tc.name, "bearer bare") || tc.name == "aws sts" || tc.name == "aws secret" || tc.name == "basic" {
			continue
		}
		for shift := range 3 {
			in := "value " + base64.StdEncoding.EncodeToString([]byte(strings.Repeat(" ", shift)+tc.text)) + " end"
			if out := string(r.Bytes([]byte(in), nil)); !strings.Contains(out, TokenOpen) {
				t.Errorf("%s, shift %d: %q is kept", tc.name, shift, out)
			}
		}
	}
}

func TestKnownValues(t *testing.T) {
	t.Parallel()
	r := testRedactor()
	const v = `kn0wn/"va lue"+&x`
	r.Secret(v)
	r.Secret("kn0wn/\"v")
	r.Secret("short")
	token := string(r.token(nil, "known", []byte(v)))
	for name, in := range map[string]string{
		"raw": v, "JSON": escapeJSON(v), "query": url.QueryEscape(v), "path": url.PathEscape(v),
		"base64":   base64.StdEncoding.EncodeToString([]byte(v)),
		"base64 1": base64.StdEncoding.EncodeToString([]byte("a" + v + "b")),
		"base64 2": base64.StdEncoding.EncodeToString([]byte("ab" + v)),
		"base64 3": base64.URLEncoding.EncodeToString([]byte("abc" + v + "zz")),
	} {
		in = "x " + in + " y"
		got := string(r.Bytes([]byte(in), nil))
		if !strings.Contains(got, token) {
			t.Errorf("%s: %q has not %s", name, got, token)
		}
		for i := range in {
			if s, _ := stream(r, "", []byte(in[:i]), []byte(in[i:])); s != got {
				t.Errorf("%s split at %d: %q, want %q", name, i, s, got)
			}
		}
	}
	if got := r.Text("a short one"); got != "a short one" {
		t.Errorf("short value was hidden: %q", got)
	}
}

// A key that is known does not hide the first line of another, by which that is found.
func TestKnownKeyBesideAnother(t *testing.T) {
	t.Parallel()
	r := testRedactor()
	r.Secret(strings.ReplaceAll(pemKey, "MIIEowIBAAKCAQEAx7Vq0Zt1nYQm3", "MIIEowIBAAKCAQEAanotherKeyx0"))
	if got := r.Text("a\n" + pemKey + "\nb"); strings.Contains(got, "x7Vq0Zt1nYQm3") {
		t.Errorf("%q holds a key", got)
	}
}

func TestKeptAsItIs(t *testing.T) {
	t.Parallel()
	r := testRedactor()
	for _, in := range []string{
		"commit fd42db6c0ffee1234567890abcdef1234567890a",
		"uid: 0b3c5a1e-4d2f-4e6a-9b8c-7d6e5f4a3b2c",
		"image: nginx@sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
		`"resourceVersion":"123456789"`,
		"Lock ID: 5e1c9a70-1b2c-3d4e-5f60-718293a4b5c6",
		"lineage: 9d3a1f6e-2b4c-8d7e-a0b1-c2d3e4f5a6b7",
		"-----BEGIN CERTIFICATE-----\nMIIDdzCCAl+gAwIBAgIEAgAAuTANBgkqhkiG9w0BAQUFADBaMQswCQYDVQQG\n-----END CERTIFICATE-----",
		"certificate-authority-data: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSURkekNDQWw=",
		"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl user@host",
		"token_count: 12", "tokens: 4096", "password: null", "password = var.db_password", `password = "${var.db_password}"`,
		"secretName: db-credentials", "automountServiceAccountToken: false", `secret="flux-system/deploy-key"`,
		"invalid token: unexpected end of file", "password_policy: strict", "token: $TOKEN", "password: <password>",
		"password = random_password.db.result", "bearer authentication required", "type: kubernetes.io/service-account-token",
		"https://host.example:8443/path@2x?page=3&order=key", "http://user@host/x", "public_key: abcdefgh", "(sensitive value)",
		"authorization mode RBAC", `msg="authorization: denied"`, "kubectl get secret -n prod", "the password was wrong",
		"Authorization-Mode=Node,RBAC", "kind: Secret", `"kind":"Secret","apiVersion":"v1"`, "x-kubernetes-pf-flowschema-uid: 7f",
	} {
		if got := r.Text(in); got != in {
			t.Errorf("%q became %q", in, got)
		}
	}
}

func TestTokens(t *testing.T) {
	t.Parallel()
	r := testRedactor()
	a, b := r.Text("password=hunter2hunter2"), r.Text(`{"token":"hunter2hunter2"}`)
	if x, y := a[strings.LastIndexByte(a, ':'):], b[strings.LastIndexByte(b, ':'):]; x[:17] != y[:17] {
		t.Errorf("equal values, tokens %q and %q", x, y)
	}
	if got := r.Text("x <redacted:jwt:0123456789abcdef> y"); got != "x <forged-redacted:jwt:0123456789abcdef> y" {
		t.Errorf("forged token became %q", got)
	}
	k8s, _ := stream(r, MediaKubernetes, []byte(`{"kind":"Secret","data":{"p":"`+base64.StdEncoding.EncodeToString([]byte("hunter2hunter2"))+`"}}`))
	if tag := a[strings.LastIndexByte(a, ':')+1:]; !strings.Contains(k8s, tag[:16]) {
		t.Errorf("Secret %q has not the digits of %q", k8s, a)
	}
}

func TestStructures(t *testing.T) {
	t.Parallel()
	r := testRedactor()
	for _, tc := range []struct {
		name, media, in string
		gone, kept      []string
	}{
		{"secret in a list", MediaKubernetes, `{"kind":"List","items":[{"kind":"Secret","metadata":{"name":"db","managedFields":[{"x":"gone1"}],"annotations":{"` + LastApplied + `":"gone2"}},"data":{"user":"Ym9i","empty":""},"stringData":{"k":"gone3"}}]}`,
			[]string{"Ym9i", "gone1", "gone2", "gone3", "managedFields"}, []string{`"user"`, `"db"`}},
		{"secret list", MediaKubernetes, `{"kind":"SecretList","items":[{"metadata":{"name":"db"},"data":{"user":"Ym9i"}}]}`, []string{"Ym9i"}, []string{"db"}},
		{"env of a pod", MediaKubernetes, `{"kind":"Pod","spec":{"containers":[{"env":[{"name":"DB_PASSWORD","value":"hunter2"},{"name":"LANG","value":"C"}]}]}}`, []string{"hunter2"}, []string{`"C"`}},
		{"config map", MediaKubernetes, `{"kind":"ConfigMap","data":{"app.conf":"a=1\npassword=hunter2\n"}}`, []string{"hunter2"}, []string{"a=1"}},
		{"raw state", MediaTFState, `{"version":4,"outputs":{"o":{"value":{"a":"gone1"},"sensitive":true},"p":{"value":"kept1"}},"resources":[{"instances":[{"attributes":{"id":"kept2","blob":"gone2","list":["kept3","gone3"],"m":{"k":"gone4"},"private_key":"gone5"},"sensitive_attributes":[[{"type":"get_attr","value":"blob"}],[{"type":"get_attr","value":"list"},{"type":"index","value":{"value":1,"type":"number"}}],[{"type":"get_attr","value":"m"},{"type":"index","value":{"value":"k","type":"string"}}]],"private":"gone6"}]}]}`,
			[]string{"gone1", "gone2", "gone3", "gone4", "gone5", "gone6"}, []string{"kept1", "kept2", "kept3"}},
		{"encrypted state", MediaTFState, `{"serial":3,"lineage":"kept1","encrypted_data":"a2VwdDI=","encryption_version":"v0"}`, nil, []string{"kept1", "a2VwdDI="}},
		{"plan", MediaTFPlan, `{"variables":{"v":{"value":"gone1"},"db_password":{"value":"gone7"}},"configuration":{"root_module":{"variables":{"v":{"sensitive":true,"default":"gone2"}}}},"resource_changes":[{"change":{"before":null,"after":{"x":"gone3","y":"kept1","l":[{"z":"gone4"}]},"after_sensitive":{"x":true,"l":[{"z":true}]}}}],"output_changes":{"o":{"before":"gone5","after":"gone6","before_sensitive":true,"after_sensitive":true}}}`,
			[]string{"gone1", "gone2", "gone3", "gone4", "gone5", "gone6", "gone7"}, []string{"kept1"}},
		{"kubeconfig", MediaKubeconfig, "apiVersion: v1\nclusters:\n- name: c1\n  cluster:\n    server: https://u:gone1@api.example:6443/gone2\n    certificate-authority-data: gone3\nusers:\n- name: u1\n  user:\n    token: gone4\n    client-key-data: >-\n      gone5\n      gone6\n    exec:\n      command: aws\n      args:\n      - get-token\n      - gone7\n      env:\n      - name: X\n        value: gone8\ncontexts:\n- context: {cluster: c1, user: gone9}\n  name: ctx\ncurrent-context: ctx\n",
			[]string{"gone"}, []string{"https://api.example:6443\n", "name: c1", "command: aws", "current-context: ctx", "name: ctx"}},
		{"kubeconfig as JSON", MediaKubeconfig, `{"apiVersion":"v1","users":[{"name":"u1","user":{"token":"gone1","exec":{"command":"aws","args":["gone2"]}}}]}`, []string{"gone"}, []string{"u1", "aws"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			out, rules := stream(r, tc.media, []byte(tc.in))
			for _, g := range tc.gone {
				if strings.Contains(out, g) {
					t.Errorf("%q is still in %s", g, out)
				}
			}
			for _, k := range tc.kept {
				if !strings.Contains(out, k) {
					t.Errorf("%q is no longer in %s", k, out)
				}
			}
			for _, rule := range rules {
				if rule == Unparsed {
					t.Error("not parsed")
				}
			}
			if again, _ := stream(r, tc.media, []byte(out)); again != out {
				t.Errorf("second pass changes\n%s to\n%s", out, again)
			}
		})
	}
}

func TestLongStreams(t *testing.T) {
	t.Parallel()
	r := testRedactor()
	const secret = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"
	for _, unit := range []string{"x", "word ", "0123456789 line\n", "{\"a\":1},"} {
		// Secrets around each window edge, on a line without an end and on many lines.
		var in bytes.Buffer
		for in.Len() < 3*window {
			in.WriteString(strings.Repeat(unit, 997/len(unit)))
			in.WriteString(" " + secret + " password=hunter2hunter2 ")
		}
		out, _ := stream(r, "", in.Bytes())
		if strings.Contains(out, "6C7e42F292c6") || strings.Contains(out, "unter2hunter") {
			t.Errorf("unit %q: a secret survives", unit)
		}
	}
	long := "password=" + strings.Repeat("abcdefghij", window/3) + " after\n"
	if out, _ := stream(r, "", []byte(long)); strings.Contains(out, "abcdefghijab") || !strings.HasSuffix(out, "> after\n") {
		t.Errorf("an endless value leaves %d bytes", len(out))
	}
	pem := strings.TrimSuffix(pemKey, "-----END RSA PRIVATE KEY-----") + strings.Repeat("QUJDREVGR0hJSktMTU5P\n", 1000)
	if out, _ := stream(r, "", []byte(strings.Repeat("a line\n", 40_000)+pem)); strings.Contains(out, "QUJDREVGR0hJ") {
		t.Error("a key without an end survives")
	}
}

func FuzzRedact(f *testing.F) {
	corpus.Seed(f)
	r := testRedactor()
	r.Secret("known-value-1")
	for _, tc := range planted {
		f.Add([]byte(tc.text), 5)
	}
	f.Add(r.token(nil, "jwt", []byte("x")), 3)
	f.Fuzz(func(t *testing.T, in []byte, cut int) {
		once := r.Bytes(in, nil)
		if bytes.Contains(once, []byte("known-value-1")) {
			t.Fatalf("a known value survives in %q", once)
		}
		if again := r.Bytes(once, nil); !bytes.Equal(again, once) {
			t.Fatalf("once %q, twice %q", once, again)
		}
		if cut < 0 || cut > len(in) {
			cut = len(in) / 2
		}
		if got, _ := stream(r, "", in[:cut], in[cut:]); got != string(once) {
			t.Fatalf("in two parts %q, at once %q", got, once)
		}
	})
}

func BenchmarkRedact(b *testing.B) {
	line := "2026-11-21T02:14:07Z level=info controller=kustomization msg=\"reconciled\" revision=main@sha1:fd42db6c0ffee1234567890abcdef1234567890a ns=flux-system\n"
	in := []byte(strings.Repeat(line, 8000) + "password=hunter2hunter2\n")
	r := testRedactor()
	b.Run("redact", func(b *testing.B) {
		b.SetBytes(int64(len(in)))
		for b.Loop() {
			stream(r, "", in)
		}
	})
	b.Run("sha256", func(b *testing.B) {
		b.SetBytes(int64(len(in)))
		for b.Loop() {
			sha256.Sum256(in)
		}
	})
}

func BenchmarkRuleset(b *testing.B) {
	for b.Loop() {
		testRedactor()
	}
}
