package redact

import (
	"encoding/base64"
	"encoding/json"
	"maps"
	"math/rand/v2"
	"net/url"
	"strings"
	"testing"
)

// kinds are texts with secrets in them: {A20} stands for twenty letters and digits that must not survive, {H…} for hex,
// {U…} for capitals and digits, {B…} for letters of base64, {N…} for digits, {P…} for a password with punctuation.
// {E…} is the base64 of letters and digits.
var kinds = []struct{ name, text string }{
	{"pem rsa", "-----BEGIN RSA PRIVATE KEY-----\n{B64}\n{B64}\n{B20}\n-----END RSA PRIVATE KEY-----"},
	{"pem ec", "-----BEGIN EC PRIVATE KEY-----\n{B64}\n-----END EC PRIVATE KEY-----"},
	{"pem pkcs8", "-----BEGIN PRIVATE KEY-----\n{B64}\n{B32}\n-----END PRIVATE KEY-----"},
	{"pem encrypted", "-----BEGIN ENCRYPTED PRIVATE KEY-----\n{B64}\n-----END ENCRYPTED PRIVATE KEY-----"},
	{"pem openssh", "-----BEGIN OPENSSH PRIVATE KEY-----\n{B64}\n{B40}\n-----END OPENSSH PRIVATE KEY-----"},
	{"pgp", "-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n{B64}\n{B64}\n-----END PGP PRIVATE KEY BLOCK-----"},
	{"putty", "PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\nComment: x\nPrivate-Lines: 1\n{B48}\nPrivate-MAC: 00"},
	{"age", "AGE-SECRET-KEY-1{U58}"},
	{"jwt", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIi{A40}.{A43}"},
	{"bearer header", "Authorization: Bearer {A40}"},
	{"bearer bare", "using bearer {A32} now"},
	{"basic header", "authorization: Basic {B32}"},
	{"digest header", `Authorization: Digest username="x", {A32}`},
	{"private token header", "PRIVATE-TOKEN: {A20}"},
	{"vault header", "X-Vault-Token: {A24}"},
	{"api key header", "X-API-Key: {A32}"},
	{"cookie", "Cookie: session={A32}; theme=dark"},
	{"set-cookie", "Set-Cookie: sid={A32}; Path=/; HttpOnly"},
	{"aws key id", "AKIA{U16}"},
	{"aws temporary id", "ASIA{U16}"},
	{"aws secret", "aws_secret_access_key = {B40}"},
	{"aws session token", "AWS_SESSION_TOKEN={B120}"},
	{"aws credentials file", "[default]\naws_access_key_id = AKIA{U16}\naws_secret_access_key = {B40}\nregion = eu-central-1"},
	{"aws presigned", "https://b.s3.amazonaws.com/x?X-Amz-Credential={A20}&X-Amz-Signature={H64}&X-Amz-Security-Token={A60}"},
	{"gcp service account", `{"type":"service_account","private_key":"-----BEGIN PRIVATE KEY-----\n{B64}\n-----END PRIVATE KEY-----\n"}`},
	{"gcp user credentials", `{"client_secret":"{A24}","refresh_token":"{A60}","type":"authorized_user"}`},
	{"google api key", "AIza{A35}"},
	{"google oauth", "ya29.{A60}"},
	{"google client secret", "GOCSPX-{A28}"},
	{"azure client secret", "abc8Q~{A34}"},
	{"azure storage", "DefaultEndpointsProtocol=https;AccountName=x;AccountKey={B86}==;EndpointSuffix=core.windows.net"},
	{"azure service bus", "Endpoint=sb://x.servicebus.windows.net/;SharedAccessKeyName=k;SharedAccessKey={B43}="},
	{"azure sas", "https://a.blob.core.windows.net/c?sv=2022-11-02&sig={A43}&se=2026"},
	{"github classic", "ghp_{A36}"},
	{"github app", "ghs_{A36}"},
	{"github fine-grained", "github_pat_{A22}_{A59}"},
	{"gitlab", "glpat-{A20}"},
	{"gitlab runner", "glrt-{A20}"},
	{"gitlab job", "glcbt-64_{A20}"},
	{"bitbucket", "ATBB{A32}"},
	{"atlassian", "ATATT3{A60}"},
	{"slack bot", "xoxb-{N12}-{N13}-{A24}"},
	{"slack app", "xapp-1-A{U10}-{N13}-{H64}"},
	{"slack hook", "https://hooks.slack.com/services/T{U10}/B{U10}/{A24}"},
	{"discord hook", "https://discord.com/api/webhooks/{N18}/{A68}"},
	{"telegram", "bot {N10}:AA{A33}"},
	{"stripe", "sk_live_{A24}"},
	{"stripe hook", "whsec_{A32}"},
	{"openai", "sk-proj-{A48}"},
	{"anthropic", "sk-ant-api03-{A48}"},
	{"hugging face", "hf_{A34}"},
	{"databricks", "dapi{H32}"},
	{"npm", "npm_{A36}"},
	{"npmrc", "//registry.example.org/:_authToken={A36}"},
	{"npmrc basic", "//r.example/:_auth={B32}"},
	{"pypi", "pypi-AgEIcHlwaS5vcmc{A60}"},
	{"rubygems", "rubygems_{H48}"},
	{"docker hub", "dckr_pat_{A27}"},
	{"docker config", `{"auths":{"r.io":{"auth":"{E24}"}}}`},
	{"sendgrid", "SG.{A22}.{A43}"},
	{"mailgun", "key-{H32}"},
	{"digitalocean", "dop_v1_{H64}"},
	{"grafana", "glsa_{A32}_{H8}"},
	{"vault", "hvs.{A90}"},
	{"terraform cloud", "{A14}.atlasv1.{A67}"},
	{"terraform credentials file", "credentials \"app.terraform.io\" {\n  token = \"{A14}.atlasv1.{A67}\"\n}"},
	{"pulumi", "pul-{H40}"},
	{"doppler", "dp.pt.{A43}"},
	{"tailscale", "tskey-auth-{A17}-{A32}"},
	{"new relic", "NRAK-{U27}"},
	{"sentry", "sntryu_{H64}"},
	{"postman", "PMAK-{H24}-{H34}"},
	{"shopify", "shpat_{H32}"},
	{"dynatrace", "dt0c01.{U24}.{U64}"},
	{"heroku", "HRKU-{A36}"},
	{"alibaba", "LTAI{A20}"},
	{"postgres url", "postgres://app:{P20}@db.example:5432/x?sslmode=require"},
	{"redis url", "redis://:{A24}@cache:6379/0"},
	{"amqp url", "amqps://svc:{A24}@mq.example/vhost"},
	{"git url", "https://oauth2:{A26}@git.example/team/repo.git"},
	{"git url with token as user", "https://{A26}@git.example/team/repo.git"},
	{"mysql dsn", "app:{A20}@tcp(db:3306)/x"},
	{"jdbc", "jdbc:postgresql://db/x?user=app&password={A20}&ssl=true"},
	{"ado connection string", "Server=db;Database=x;User Id=app;Password={A20};Encrypt=True"},
	{"libpq", "host=db user=app password='{P20}' dbname=x"},
	{"query token", "GET /v1/things?access_token={A32}&page=2"},
	{"netrc", "machine git.example login robin password {A20}"},
	{"netrc lines", "machine git.example\n  login robin\n  password {A20}"},
	{"pgpass", "db.example:5432:app:robin:{A20}"},
	{"curl user", "curl -sS -u robin:{A20} https://git.example/"},
	{"sshpass", "sshpass -p {A20} ssh host"},
	{"openssl", "openssl rsa -in k.pem -passin pass:{A20}"},
	{"sql", "CREATE USER app IDENTIFIED BY '{A20}';"},
	{"flag", "mysql --password {A20} -h db"},
	{"flag with equals", "helm registry login --password={A20} r.example"},
	{"env", "DB_PASSWORD={A20}"},
	{"env export", "export API_TOKEN='{P24}'"},
	{"properties", "spring.datasource.password={A20}"},
	{"ini", "[client]\nuser=root\npassword={A20}"},
	{"yaml", "password: {A20}"},
	{"yaml words", "  passphrase: {A12} {A12} {A14}"},
	{"yaml block", "private_key: |\n  {A40}\n  {A40}\nnext: 1"},
	{"json", `{"clientSecret":"{A24}","x":1}`},
	{"json quote", `{"password":"hun\"{A20}"}`},
	{"hcl", `  master_password      = "{A20}"`},
	{"log field", `level=info msg="connecting" password={A20} user=bob`},
	{"ldap", "bindpw {A1}\nbindpw: {A20}"},
	{"wireguard", "[Interface]\nPrivateKey = {B43}="},
	{"kubeconfig key", "    client-key-data: {E60}"},
	{"kubeconfig token", "users:\n- name: x\n  user:\n    token: {A40}"},
	{"kubernetes secret yaml", "apiVersion: v1\ndata:\n  user: {E21}\n  conf: {E30}\nkind: Secret\nmetadata:\n  name: db"},
	{"kubernetes secret yaml, kind first", "kind: Secret\napiVersion: v1\nstringData:\n  user: {A20}\n"},
	{"kubernetes secret json", `{"apiVersion":"v1","data":{"user":"{E21}"},"kind":"Secret"}`},
	{"last applied", `kubectl.kubernetes.io/last-applied-configuration: '{"data":{"x":"{A30}"}}'`},
	{"helm release", "  release: SDRzSUFB{B80}"},
	{"dockerconfigjson", "  .dockerconfigjson: {E60}"},
	{"bcrypt", "admin:$2y$10${A53}"},
	{"shadow", "root:$6$saltsalt${A86}:19000:0:99999:7:::"},
}

const (
	lettersAndDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	passwordLetters  = lettersAndDigits + "!$%^*-_.~"
)

// plant fills in a text and returns it with what must not survive.
func plant(rnd *rand.Rand, text string) (string, []string) {
	var out strings.Builder
	var secrets []string
	for {
		open := strings.IndexByte(text, '{')
		if open < 0 {
			return out.String() + text, secrets
		}
		out.WriteString(text[:open])
		text = text[open:]
		end := strings.IndexByte(text, '}')
		n, ok := 0, end > 2
		for i := 2; ok && i < end; i++ {
			if ok = text[i] >= '0' && text[i] <= '9'; ok {
				n = n*10 + int(text[i]-'0')
			}
		}
		alphabet := map[byte]string{'A': lettersAndDigits, 'E': lettersAndDigits, 'H': "0123456789abcdef", 'U': lettersAndDigits[:26] + "234567",
			'B': lettersAndDigits + "+/", 'N': "123456789", 'P': passwordLetters}[text[min(1, len(text)-1)]]
		if !ok || alphabet == "" {
			out.WriteByte('{')
			text = text[1:]
			continue
		}
		b := make([]byte, n)
		for i := range b {
			b[i] = alphabet[rnd.IntN(len(alphabet))]
		}
		v := string(b)
		if text[1] == 'E' {
			v = base64.StdEncoding.EncodeToString(b)
		}
		out.WriteString(v)
		if len(v) >= 12 {
			secrets = append(secrets, v)
		}
		text = text[end+1:]
	}
}

// contexts are the shapes in which a secret reaches a capture.
var contexts = []struct {
	name string
	wrap func(string) string
}{
	{"raw", func(s string) string { return "02:14:07 start\n" + s + "\n02:14:08 end\n" }},
	{"JSON-escaped", func(s string) string {
		b, _ := json.Marshal(map[string]string{"log": s, "z": "end"})
		return string(b) + "\n"
	}},
	{"YAML block", func(s string) string {
		return "log: |\n  " + strings.ReplaceAll(s, "\n", "\n  ") + "\nend: 1\n"
	}},
	{"base64", func(s string) string { return "value: " + base64.StdEncoding.EncodeToString([]byte(s)) + "\nend: 1\n" }},
	{"URL", func(s string) string { return "GET /cb?q=" + url.QueryEscape(s) + "&z=1 HTTP/1.1\n" }},
}

// slices12 are all slices of twelve bytes of a value and of its encoded forms.
func slices12(value string) map[string]bool {
	forms := []string{value, url.QueryEscape(value), url.PathEscape(value)}
	if b, err := json.Marshal(value); err == nil {
		forms = append(forms, string(b[1:len(b)-1]))
	}
	for shift := range 3 {
		forms = append(forms, base64Core(base64.StdEncoding, value, shift), base64Core(base64.URLEncoding, value, shift))
	}
	out := map[string]bool{}
	for _, f := range forms {
		for i := 0; i+12 <= len(f); i++ {
			out[f[i:i+12]] = true
		}
	}
	return out
}

func leak(out string, secrets []string) string { return leakOf(out, allSlices12(secrets)) }

func allSlices12(secrets []string) map[string]bool {
	all := map[string]bool{}
	for _, s := range secrets {
		maps.Copy(all, slices12(s))
	}
	return all
}

func leakOf(out string, slices map[string]bool) string {
	for i := 0; i+12 <= len(out); i++ {
		if slices[out[i:i+12]] {
			return out[i : i+12]
		}
	}
	return ""
}

var plainLines = strings.Repeat("a line of a log that says nothing\n", 16)

// streamIn redacts in with windows of a size, cut at every one of them.
func streamIn(r *Redactor, in string, size int) string {
	var out strings.Builder
	s := &textStream{r: r, out: &out, n: Counts{}, size: size, ahead: 512}
	_, _ = s.Write([]byte(in))
	_ = s.finish()
	return out.String()
}

func TestKindsInContexts(t *testing.T) {
	if testing.Short() {
		t.Skip("too long for -short")
	}
	t.Parallel()
	if len(kinds) < 60 {
		t.Fatalf("%d kinds, want 60 or more", len(kinds))
	}
	offsets := 0
	for n, k := range kinds {
		r := testRedactor()
		rnd := rand.New(rand.NewPCG(4, uint64(n)))
		for _, c := range contexts {
			text, secrets := plant(rnd, k.text)
			in := c.wrap(text)
			want := string(r.Bytes([]byte(in), nil))
			if l := leak(want, secrets); l != "" {
				t.Errorf("%s, %s: %q survives\n in  %q\n out %q", k.name, c.name, l, in, want)
				continue
			}
			if again := string(r.Bytes([]byte(want), nil)); again != want {
				t.Errorf("%s, %s: second pass changes\n%q to\n%q", k.name, c.name, want, again)
			}
			for i := range len(in) + 1 {
				offsets++
				if got, _ := stream(r, "text/plain", []byte(in[:i]), []byte(in[i:])); got != want {
					t.Errorf("%s, %s, split at %d:\n got %q\nwant %q", k.name, c.name, i, got, want)
					break
				}
			}
			// A window that ends anywhere within the secret.
			in = plainLines + in + plainLines
			want = string(r.Bytes([]byte(in), nil))
			for size := 24; size < 24+len(in); size += 13 {
				if got := streamIn(r, in, size); got != want {
					trim := func(s string) string { return strings.ReplaceAll(s, plainLines[:35], "") }
					t.Errorf("%s, %s, windows of %d:\n got %q\nwant %q", k.name, c.name, size, trim(got), trim(want))
					break
				}
			}
		}
	}
	t.Logf("%d kinds in %d contexts, %d splits", len(kinds), len(contexts), offsets)
}
