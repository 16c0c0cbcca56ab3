package redact

import "strings"

// settings are names under which secrets stand, as words, and the form of their values (see kinds). A setting whose
// name alone tells nothing is in hardValues.
var settings = []struct{ name, value string }{
	{"db password", "{P20}"}, {"database password", "{A16}"}, {"mysql root password", "{P18}"}, {"postgres password", "{A24}"}, {"pg pass", "{A20}"},
	{"redis password", "{A32}"}, {"rabbitmq default pass", "{A18}"}, {"mongo initdb root password", "{P20}"}, {"admin password", "{P14}"}, {"root pw", "{A16}"},
	{"keystore password", "{A14}"}, {"trust store password", "{A14}"}, {"ssl key password", "{P16}"}, {"smtp password", "{A16}"}, {"bind password", "{P16}"},
	{"ansible become pass", "{P16}"}, {"ansible ssh pass", "{A16}"}, {"ansible vault password", "{P24}"}, {"vault password", "{P24}"}, {"vault token", "hvs.{A24}"},
	{"vault root token", "s.{A24}"}, {"unseal key", "{B43}="}, {"recovery key", "{B43}="}, {"consul http token", "{H8}-{H4}-{H4}-{H4}-{H12}"}, {"consul encrypt key", "{B43}="},
	{"nomad token", "{H8}-{H4}-{H4}-{H4}-{H12}"}, {"aws secret access key", "{B40}"}, {"aws session token", "{B220}"}, {"aws security token", "{B180}"}, {"aws access key id", "AKIA{U16}"},
	{"azure client secret", "abc8Q~{A34}"}, {"functions key", "{A53}A=="}, {"azure functions host key", "{A53}A=="}, {"storage account key", "{B86}=="}, {"primary access key", "{B86}=="},
	{"primary master key", "{B86}=="}, {"sas token", "sv=2022-11-02&sig={A43}%3D"}, {"azure devops pat", "{A52}"}, {"azure devops ext pat", "{A84}"}, {"eventhub connection string", "Endpoint=sb://x.example/;SharedAccessKeyName=k;SharedAccessKey={B43}="},
	{"gcp refresh token", "1//0{A60}"}, {"oauth client secret", "{A40}"}, {"google api key", "AIza{A35}"}, {"datadog api key", "{H32}"}, {"dd app key", "{H40}"},
	{"datadog application key", "{H40}"}, {"new relic license key", "{H36}NRAL"}, {"splunk hec token", "{H8}-{H4}-{H4}-{H4}-{H12}"}, {"splunk password", "{P16}"}, {"airtable api key", "key{A14}"},
	{"airtable token", "pat{A14}.{H64}"}, {"doppler token", "dp.st.dev.{A40}"}, {"doppler service token", "dp.ct.{A40}"}, {"pagerduty routing key", "{H32}"}, {"integration key", "{H32}"},
	{"genie key", "{H8}-{H4}-{H4}-{H4}-{H12}"}, {"sentry auth token", "{H64}"}, {"honeycomb api key", "{A22}"}, {"ingestion key", "{H32}"}, {"cloudflare api token", "{A40}"},
	{"cloudflare api key", "{H37}"}, {"fastly api token", "{A32}"}, {"twilio auth token", "{H32}"}, {"sendgrid api key", "SG.{A22}.{A43}"}, {"mailchimp api key", "{H32}-us12"},
	{"algolia admin api key", "{H32}"}, {"stripe secret key", "sk_live_{A24}"}, {"github pat", "ghp_{A36}"}, {"github webhook secret", "{A32}"}, {"gitlab token", "glpat-{A20}"},
	{"runner registration token", "GR1348941{A20}"}, {"npm token", "npm_{A36}"}, {"twine password", "pypi-{A80}"}, {"docker password", "dckr_pat_{A27}"}, {"artifactory api key", "AKCp{A69}"},
	{"sonar token", "squ_{H40}"}, {"snyk token", "{H8}-{H4}-{H4}-{H4}-{H12}"}, {"circle token", "{H40}"}, {"tfe token", "{A14}.atlasv1.{A67}"}, {"jwt secret", "{A32}"},
	{"session secret", "{A48}"}, {"cookie secret", "{B43}="}, {"secret key", "{P50}"}, {"secret key base", "{H128}"}, {"rails master key", "{H32}"},
	{"app key", "base64:{B43}="}, {"encryption key", "{H64}"}, {"hmac key", "{H64}"}, {"signing key", "{B64}"}, {"private key", "{B43}="},
	{"preshared key", "{B43}="}, {"psk", "{A24}"}, {"wifi psk", "{P16}"}, {"keytab", "BQIAAABF{B120}"}, {"krb password", "{P14}"},
	{"passphrase", "wombat plinth ochre saddle"}, {"ssh key passphrase", "gravel mitten ANCHOR 42 spruce"}, {"gpg passphrase", "{A8} {A8} {A8}"}, {"okta api token", "00{A40}"}, {"auth0 client secret", "{A64}"},
	{"access token", "{A40}"}, {"id token", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIi{A40}.{A43}"}, {"slack bot token", "xoxb-{N12}-{N13}-{A24}"}, {"confluent api secret", "{B64}"}, {"sasl password", "{B64}"},
	{"elastic password", "{A20}"}, {"elastic api key", "{E40}"}, {"minio secret key", "{A40}"}, {"s3 secret", "{B40}"}, {"ceph secret", "AQ{B36}=="},
	{"k3s token", "K10{H64}::server:{H32}"}, {"bootstrap token", "{H6}.{H16}"}, {"argocd auth token", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIi{A40}.{A43}"}, {"robot secret", "{A32}"}, {"administrator password", "{P14}"},
	{"ftp pass", "{A14}"}, {"http proxy password", "{A16}"}, {"pkcs12 password", "{A12}"}, {"openai api key", "sk-proj-{A48}"}, {"registry auth", "{E30}"},
	{"api key", "{A32}"}, {"token", "{A40}"}, {"password", "{P16}"}, {"secret", "{A32}"}, {"client secret", "{A40}"},
}

// headers are names of HTTP headers, and what stands in them.
var headers = []struct{ name, value string }{
	{"Authorization", "Basic {E24}"}, {"Authorization", "Bearer {A40}"}, {"Authorization", "Splunk {H8}-{H4}-{H4}-{H4}-{H12}"}, {"Authorization", "SSWS 00{A40}"},
	{"Authorization", "GenieKey {H8}-{H4}-{H4}-{H4}-{H12}"}, {"Authorization", "SharedKey acct:{B43}="}, {"Authorization", "token {H40}"}, {"Authorization", "Api-Token dt0c01.{U24}.{U64}"},
	{"Authorization", "Token token={A20}"}, {"Authorization", "ApiKey {E40}"}, {"Authorization", "Key {H32}"}, {"Authorization", "{H40}"}, {"Proxy-Authorization", "Basic {E24}"},
	{"X-API-Key", "{A32}"}, {"x-functions-key", "{A53}A=="}, {"Ocp-Apim-Subscription-Key", "{H32}"}, {"DD-API-KEY", "{H32}"}, {"DD-APPLICATION-KEY", "{H40}"},
	{"X-Vault-Token", "hvs.{A24}"}, {"X-Consul-Token", "{H8}-{H4}-{H4}-{H4}-{H12}"}, {"X-Nomad-Token", "{H8}-{H4}-{H4}-{H4}-{H12}"}, {"X-Auth-Key", "{H37}"}, {"X-Auth-Token", "{A40}"},
	{"Private-Token", "{A20}"}, {"JOB-TOKEN", "{A20}"}, {"X-Goog-Api-Key", "AIza{A35}"}, {"X-Amz-Security-Token", "{B180}"}, {"apikey", "{A32}"}, {"Api-Key", "NRAK-{U27}"},
	{"Fastly-Key", "{A32}"}, {"X-RapidAPI-Key", "{A50}"}, {"X-Honeycomb-Team", "{A22}"}, {"X-Redmine-API-Key", "{H40}"}, {"X-Octopus-ApiKey", "API-{U30}"}, {"X-Figma-Token", "{A40}"},
	{"X-Plex-Token", "{A20}"}, {"X-Shopify-Access-Token", "shpat_{H32}"}, {"X-Algolia-API-Key", "{H32}"}, {"X-Insert-Key", "{A32}"}, {"X-Query-Key", "{A32}"}, {"X-License-Key", "{H40}"},
	{"X-JFrog-Art-Api", "AKCp{A69}"}, {"X-MBX-APIKEY", "{A64}"}, {"X-Parse-REST-API-Key", "{A40}"}, {"X-Parse-Master-Key", "{A40}"}, {"X-Gitlab-Token", "{A20}"}, {"X-Access-Token", "{A40}"},
	{"Cookie", "session={A32}; theme=dark"}, {"X-CSRF-Token", "{A32}"}, {"X-Ms-Authorization-Auxiliary", "Bearer {A40}"},
}

// ownForms are secrets that come with the form of their own, beside those of kinds.
var ownForms = []struct{ name, text string }{
	{"smtp auth plain", "AUTH PLAIN {Z24}"}, {"smtp auth plain, two lines", "C: AUTH PLAIN\r\nS: 334\r\nC: {Z24}"}, {"redis auth", "AUTH {A24}"}, {"redis auth with user", "> AUTH default {A24}"},
	{"requirepass", "requirepass {A24}"}, {"masterauth", "masterauth {A24}"}, {"redis-cli", "redis-cli -h cache -a {A24} ping"}, {"redis user", "user app on >{A24} ~* +@all"},
	{"pgpass any", "*:*:*:app:{A20}"}, {"pgpass port", "db.example:6432:app:robin:{A20}"}, {"netrc default", "default login robin password {A20}"},
	{"my.cnf", "[client]\nuser = root\npassword = \"{P20}\"\nhost = db"}, {"git-credentials", "https://robin:{A30}@git.example"}, {"pypirc", "[pypi]\nusername = __token__\npassword = {A60}"},
	{"npmrc password", "//r.example/:_password={E24}"}, {"s3cfg", "[default]\naccess_key = AKIA{U16}\nsecret_key = {B40}"}, {"boto", "[Credentials]\ngs_secret_access_key = {B40}"},
	{"docker login", "docker login -u robin -p {A24} r.example"}, {"helm login", "helm registry login -u robin -p {A24} r.example"}, {"az login", "az login --service-principal -u x -p {A34} --tenant y"},
	{"mysql -p", "mysql -uroot -p{A20} -h db app"}, {"ldapsearch", "ldapsearch -x -D cn=admin,dc=example -w {A20} -b dc=example"}, {"smbclient", "smbclient //host/share -U 'robin%{A20}'"},
	{"wget", "wget --user=robin --http-password={A20} https://x.example"}, {"curl user", "curl -fsS --user 'robin:{P20}' https://x.example"}, {"vault login", "vault login hvs.{A24}"},
	{"vault login userpass", "vault login -method=userpass username=bob password={A20}"}, {"net user", "net user robin {A20} /add"}, {"cmdkey", "cmdkey /add:host /user:robin /pass:{A20}"},
	{"securestring", "ConvertTo-SecureString '{P20}' -AsPlainText -Force"}, {"chpasswd", "echo 'root:{A20}' | chpasswd"}, {"htpasswd", "htpasswd -bc /etc/nginx/.htpasswd robin {A20}"},
	{"postgres role", "ALTER ROLE app WITH LOGIN PASSWORD '{A20}';"}, {"postgres encrypted", "CREATE USER app ENCRYPTED PASSWORD '{A20}';"}, {"mysql set", "SET PASSWORD FOR 'app'@'%' = PASSWORD('{A20}');"},
	{"sql server", "CREATE LOGIN app WITH PASSWORD = N'{A20}';"}, {"sql insert", "INSERT INTO users (name, password) VALUES ('bob', '{A20}');"}, {"psql url", "psql postgresql://app:{P20}@db.example/x"},
	{"basic in url", "https://robin:{A24}@x.example/path"}, {"mongodb srv", "mongodb+srv://app:{A20}@c0.example/x?w=majority"}, {"jaas", `org.apache.kafka.common.security.plain.PlainLoginModule required username="app" password="{A20}";`},
	{"gha mask", "::add-mask::{A32}"}, {"gha output", "::set-output name=db_password::{A24}"}, {"k8s from-literal", "kubectl create secret generic db --from-literal=password={A20}"},
	{"k8s env", "    - name: DB_PASSWORD\n      value: {A20}"}, {"k8s env quoted", "    - name: \"API_TOKEN\"\n      value: \"{P20}\""}, {"ecs env", `{"environment":[{"name":"DB_PASSWORD","value":"{A20}"}]}`},
	{"cloudformation", "ParameterKey=DbPassword,ParameterValue={A20}"}, {"app settings", `<add key="DbPassword" value="{A20}" />`}, {"helm set", "helm upgrade x ./c --set db.auth.password={A20} --wait"},
	{"helm set block", "  set_sensitive {\n    name  = \"auth.password\"\n    value = \"{A20}\"\n  }"}, {"tf var", "tofu apply -var 'db_password={A20}' -auto-approve"}, {"tf var env", "TF_VAR_db_password={A20} tofu plan"},
	{"web.config", `<connectionStrings><add name="x" connectionString="Server=db;User Id=app;Password={A20};" /></connectionStrings>`}, {"spring yaml", "spring:\n  datasource:\n    username: app\n    password: {A20}"},
	{"systemd", `Environment="DB_PASSWORD={A20}" "LANG=C"`}, {"dockerfile", "ENV DB_PASSWORD {A20}"}, {"compose", "    environment:\n      - DB_PASSWORD={A20}\n      - LANG=C"},
	{"ps", "root  812  0.0  0.1 ? Ss 02:14 0:00 /usr/bin/app --db-password {A20} --listen :8080"}, {"python repr", "Settings(user='app', password=SecretStr('{A20}'))"}, {"url fragment", "https://app.example/cb#access_token={A40}&state=ready"},
	{"ocsp id", "wireguard: PresharedKey = {B43}="}, {"wpa", "  wpa_passphrase={A20}"}, {"ipsec", `@vpn.example %any : PSK "{A24}"`}, {"htdigest env", "PROXY_PASS={A20}"},
	{"bearer in go map", "map[Accept:[*/*] Authorization:[Bearer {A40}]]"}, {"dump of request", `Headers: {"X-Api-Key":["{A32}"],"Accept":["*/*"]}`}, {"k8s secret describe", "stringData:\n  password: {A20}\nkind: Secret\napiVersion: v1"},
}

// hardValues are secrets without a name and without a prefix.
var hardValues = []string{"{A24}", "{A32}", "{A40}", "{A48}", "{A64}", "{B40}", "{B43}=", "{B64}", "{B86}==", "{P24}", "{P32}", "{P40}"}

// alone are the places in which nothing tells what a value is.
var alone = []struct{ name, text string }{
	{"line", "VALUE"}, {"log", "02:14:07 connected with VALUE after 3 tries"}, {"quoted", `level=debug msg="handing over" x="VALUE" n=3`}, {"JSON", `{"a":"VALUE","b":2}`}, {"array", `["eu","VALUE"]`},
	{"argument", "./deploy.sh prod VALUE --wait"}, {"call", `connect("db", "VALUE", 5432)`}, {"CSV", "robin,VALUE,2026-11-21"}, {"YAML", "  setting: VALUE"}, {"HCL", `  content = "VALUE"`}, {"brackets", "handed over [VALUE] twice"},
	{"escaped", `{"log":"{\"a\":\"VALUE\"}"}`}, {"tab", "robin\tVALUE\t12"}, {"equals", "x=VALUE"},
}

// styles are the ways to write a name of several words.
var styles = map[string]func(string) string{
	"snake": func(s string) string { return strings.ReplaceAll(s, " ", "_") },
	"upper": func(s string) string { return strings.ToUpper(strings.ReplaceAll(s, " ", "_")) },
	"kebab": func(s string) string { return strings.ReplaceAll(s, " ", "-") },
	"dots":  func(s string) string { return strings.ReplaceAll(s, " ", ".") },
	"camel": func(s string) string {
		words := strings.Fields(s)
		for i, w := range words {
			if i > 0 {
				words[i] = strings.ToUpper(w[:1]) + w[1:]
			}
		}
		return strings.Join(words, "")
	},
	"pascal": func(s string) string {
		words := strings.Fields(s)
		for i, w := range words {
			words[i] = strings.ToUpper(w[:1]) + w[1:]
		}
		return strings.Join(words, "")
	},
}

// writing is one syntax in which a name has a value. NAME and VALUE stand for both, JSON for the value as a string of JSON.
type writing struct {
	name, style, text string
	source            string // log, module, typed
	word              bool   // the value must have no blank
	inline            bool   // the value ends with quotes of its own kind, so that it may hold none
}

var writings = []writing{
	{"env", "upper", "NAME=VALUE", "typed", true, false}, {"export", "upper", "export NAME='VALUE'", "typed", false, false}, {"env double quotes", "upper", `NAME="VALUE"`, "typed", false, false},
	{"set", "upper", "set NAME=VALUE", "typed", true, false}, {"PowerShell", "upper", `$env:NAME = "VALUE"`, "typed", false, false}, {"PowerShell flag", "pascal", "Connect-Thing -User x -NAME 'VALUE' -Verbose", "typed", false, false},
	{"flag", "kebab", "tool --NAME VALUE --wait", "typed", true, false}, {"flag quoted", "kebab", "tool --NAME 'VALUE' --wait", "typed", false, false}, {"flag equals", "kebab", "tool --NAME=VALUE -v", "typed", true, false},
	{"single dash", "kebab", "java -jar tool.jar -NAME VALUE -port 80", "typed", true, false}, {"JSON args", "kebab", `{"args": ["serve", "--NAME", JSON, "-v"]}`, "typed", false, true}, {"JSON args equals", "kebab", `"args":["--NAME=VALUE","-v"]`, "typed", true, true},
	{"YAML args", "kebab", "args:\n  - serve\n  - --NAME\n  - VALUE\n  - -v", "module", true, true}, {"YAML args quoted", "kebab", "args:\n- \"--NAME\"\n- JSON\n- \"-v\"", "module", false, true}, {"YAML flow args", "kebab", `args: ["--NAME", JSON]`, "module", false, true},
	{"shell continuation", "kebab", "tool \\\n  --NAME \\\n  VALUE \\\n  --wait", "typed", true, false}, {"Go slice", "kebab", "exec: [tool --NAME VALUE --wait]", "log", true, false},
	{"JSON", "camel", `{"user":"x","NAME":JSON,"port":5432}`, "log", false, true}, {"JSON lines", "snake", "{\n  \"NAME\": JSON,\n  \"x\": 1\n}", "log", false, true}, {"JSON value", "snake", `{"NAME":{"value":JSON,"sensitive":false}}`, "log", false, true},
	{"nested JSON", "camel", `{"NAME": {"current": JSON, "rotated": true}}`, "log", false, true}, {"JSON array", "snake", `{"NAME": [JSON]}`, "log", false, true}, {"JSON value on the next line", "snake", "\"NAME\":\n    JSON,", "log", false, true},
	{"escaped JSON", "camel", `{"log":"{\"NAME\":\"VALUE\",\"x\":1}"}`, "log", false, true}, {"twice escaped JSON", "snake", `{"a":"{\"b\":\"{\\\"NAME\\\":\\\"VALUE\\\"}\"}"}`, "log", false, true}, {"JSON name and value", "upper", `[{"name":"NAME","value":JSON}]`, "log", false, true},
	{"YAML", "camel", "user: x\nNAME: VALUE\nport: 5432", "module", false, true}, {"YAML quoted", "snake", "  NAME: \"VALUE\"", "module", false, true}, {"YAML single quotes", "snake", "  NAME: 'VALUE'", "module", false, true},
	{"YAML nested", "snake", "NAME:\n  current: VALUE\n  rotated: true", "module", false, true}, {"YAML list", "snake", "NAME:\n  - VALUE", "module", true, true}, {"YAML folded", "snake", "NAME: >-\n  VALUE\nnext: 1", "module", false, true}, {"YAML plain below", "snake", "  NAME:\n    VALUE\n  port: 1", "module", true, true},
	{"YAML name and value", "upper", "env:\n  - name: NAME\n    value: VALUE\n  - name: LANG\n    value: C", "module", true, true}, {"YAML flow", "camel", "db: {user: x, NAME: VALUE, port: 1}", "module", true, true},
	{"HCL", "snake", "  NAME   = \"VALUE\"\n  port = 1", "module", false, true}, {"HCL heredoc", "snake", "  NAME = <<EOT\nVALUE\nEOT\n  port = 1", "module", false, false}, {"HCL indented heredoc", "snake", "  NAME = <<-EOF\n    VALUE\n  EOF\n  port = 1", "module", false, false},
	{"HCL map", "snake", "  settings = { user = \"x\", NAME = \"VALUE\" }", "module", false, true}, {"HCL nested", "snake", "  NAME = {\n    current = \"VALUE\"\n  }", "module", false, true}, {"HCL default", "snake", "variable \"NAME\" {\n  type    = string\n  default = \"VALUE\"\n}", "module", false, true},
	{"HCL list", "snake", "  NAME = [\"VALUE\"]", "module", false, true}, {"HCL pair", "snake", "  set {\n    name  = \"a.NAME\"\n    value = \"VALUE\"\n  }", "module", false, true}, {"tfvars", "snake", "NAME = \"VALUE\"", "module", false, true},
	{"TOML", "snake", "[db]\nNAME = 'VALUE'\nport = 1", "module", false, true}, {"INI", "snake", "[db]\nuser=x\nNAME=VALUE\nhost=h", "typed", true, false}, {"INI blanks", "snake", "[db]\nNAME = VALUE\nhost = h", "typed", false, false}, {"properties", "dots", "x.user=app\nx.NAME=VALUE\nx.port=1", "typed", false, false},
	{"XML", "camel", "<db><user>x</user><NAME>VALUE</NAME></db>", "typed", false, true}, {"XML lines", "kebab", "<NAME>\n  VALUE\n</NAME>", "typed", false, true}, {"XML attribute", "camel", `<db user="x" NAME="VALUE" port="1"/>`, "typed", false, true}, {"XML add", "pascal", `<add key="NAME" value="VALUE" />`, "typed", false, true},
	{"XML property", "dots", `<property name="NAME">VALUE</property>`, "typed", false, true}, {"XML entry", "camel", `<entry key="NAME"><![CDATA[VALUE]]></entry>`, "typed", false, true}, {"XML string", "snake", `<string name="NAME">VALUE</string>`, "typed", false, true},
	{"CSV", "snake", "user,NAME,host\nrobin,VALUE,db\nkim,VALUE,db2", "typed", false, true}, {"CSV quoted", "snake", "\"user\",\"NAME\"\n\"robin\",\"VALUE\"", "typed", false, true}, {"CSV semicolons", "snake", "user;NAME;host\nrobin;VALUE;db", "typed", true, true}, {"TSV", "snake", "user\tNAME\thost\nrobin\tVALUE\tdb", "typed", false, true},
	{"table", "upper", "USER     NAME      AGE\nrobin    VALUE   3d\nkim      VALUE   4d", "log", true, true}, {"psql", "snake", " user  |  NAME  | age\n-------+--------+----\n robin | VALUE | 3", "log", false, true}, {"Markdown", "snake", "| user | NAME |\n|---|---|\n| robin | VALUE |", "typed", false, true},
	{"HTTP header", "kebab", "GET / HTTP/1.1\r\nX-NAME: VALUE\r\nAccept: */*", "log", false, false}, {"curl header", "kebab", `curl -H "X-NAME: VALUE" https://x.example`, "typed", false, true}, {"curl form", "snake", "curl -d 'user=x&NAME=VALUE&z=1' https://x.example", "typed", true, true}, {"curl JSON", "camel", `curl -d '{"user":"x","NAME":JSON}' https://x.example`, "typed", false, true},
	{"SQL update", "snake", "UPDATE users SET NAME = 'VALUE' WHERE id = 1;", "log", false, true}, {"SQL where", "snake", "SELECT * FROM u WHERE NAME='VALUE' AND a=1", "log", false, true}, {"SQL insert", "snake", "INSERT INTO u (id, NAME) values (1, 'VALUE');", "log", false, true}, {"URL", "snake", "GET /v1/x?a=1&NAME=VALUE&z=2 HTTP/1.1", "log", true, true},
	{"log field", "snake", `level=info msg="connecting" NAME=VALUE user=bob`, "log", true, false}, {"log quoted field", "snake", `level=info NAME="VALUE" user=bob`, "log", false, true}, {"log colon", "camel", "02:14:07 INFO using NAME: VALUE for user bob", "log", true, false}, {"log JSON", "snake", `{"level":"info","msg":"retrying with NAME=VALUE"}`, "log", true, true},
	{"two lines", "snake", "NAME:\nVALUE\n", "typed", true, false}, {"two lines equals", "snake", "NAME =\n  VALUE\n", "typed", true, false}, {"title", "upper", "NAME\n-------------\nVALUE\n", "typed", true, false}, {"words", "words", "The NAME is VALUE and the port 5432.", "typed", true, false}, {"words colon", "words", "- NAME: VALUE", "typed", false, false},
	{"Python dict", "snake", "{'user': 'x', 'NAME': 'VALUE', 'port': 1}", "log", false, true}, {"Ruby hash", "snake", `{:user=>"x", :NAME=>"VALUE"}`, "log", false, true}, {"PHP", "snake", "'NAME' => 'VALUE',", "typed", false, true}, {"JavaScript", "camel", "const c = {user: 'x', NAME: 'VALUE'}", "typed", false, true},
	{"Go struct", "pascal", "&{User:x NAME:VALUE Port:5432}", "log", true, true}, {"Go syntax", "pascal", `main.Config{User:"x", NAME:"VALUE", Port:5432}`, "log", false, true}, {"Go map", "snake", "map[NAME:VALUE port:5432 user:x]", "log", true, true}, {"Java", "camel", "Config(user=x, NAME=VALUE, port=5432)", "log", true, true}, {"Rust", "snake", `Config { user: "x", NAME: "VALUE" }`, "log", false, true},
	{"call", "snake", `client = Client(user="x", NAME="VALUE")`, "typed", false, true}, {"assignment in Go", "camel", "NAME := \"VALUE\"", "typed", false, true}, {"C#", "pascal", `NAME = "VALUE",`, "typed", false, true}, {"Dockerfile", "upper", "ENV NAME VALUE", "typed", true, false}, {"Dockerfile ARG", "upper", "ARG NAME=VALUE", "typed", true, false}, {"docker run", "upper", "docker run -e NAME=VALUE x:1", "typed", true, false},
	{"helm", "camel", "helm install x . --set a.NAME=VALUE,b=1", "typed", true, false}, {"GitHub log", "upper", "  env:\n    NAME: VALUE\n    LANG: C", "log", false, true}, {"systemd", "upper", `Environment="NAME=VALUE"`, "typed", false, true}, {"tofu var", "snake", "tofu apply -var='NAME=VALUE'", "typed", true, true},
	{"plan create", "snake", "      + NAME     = \"VALUE\"", "log", false, true}, {"plan change", "snake", "      ~ NAME     = \"VALUE\" -> \"VALUE\" # forces replacement", "log", false, true}, {"plan delete", "snake", "      - NAME     = \"VALUE\" -> null", "log", false, true}, {"plan heredoc", "snake", "      + NAME = <<-EOT\n            VALUE\n        EOT", "log", false, false},
	{"outputs", "snake", "Outputs:\n\nNAME = \"VALUE\"", "log", false, true}, {"diff", "snake", "@@ -1,2 +1,2 @@\n-NAME: VALUE\n+NAME: VALUE\n user: x", "log", false, true}, {"diff of JSON", "camel", "-  \"NAME\": \"VALUE\",\n+  \"NAME\": \"VALUE\",", "log", false, true}, {"directive", "snake", "NAME VALUE", "typed", true, false}, {"state show", "snake", "    NAME            = \"VALUE\"", "log", false, true},
	{"provisioner", "snake", "null_resource.x (local-exec): NAME=VALUE", "log", true, false}, {"HTML input", "snake", `<input type="hidden" name="NAME" value="VALUE">`, "log", false, true}, {"JSON in YAML", "camel", `config: '{"user":"x","NAME":JSON}'`, "module", false, true}, {"multipart", "snake", "Content-Disposition: form-data; name=\"NAME\"\r\n\r\nVALUE\r\n--x", "log", false, false},
}
