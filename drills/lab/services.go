package lab

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
)

// service is a server that tests start for themselves. The lab of a user does
// without, so that practice waits for no more than it needs.
type service struct {
	Part
	serve func(dir, addr string) (launch, error)
}

// launch is how a service is started and when it is ready.
type launch struct {
	args  []string
	env   []string // for the server
	ready string   // path of its URL that answers 200; where there is neither this nor asks, it takes connections
	any   bool     // whatever ready answers will do
	dials string   // another address that takes connections then
	tell  []string // for its users, as KEY=value

	first  [][]string // arguments of runs of the program that have to be done before, in this order
	asks   []string   // arguments of a run that succeeds once the server answers, where ready is empty
	nobody bool       // the program refuses to run as root
	quits  bool       // it wants to be told to end, and ends its children then
	gone   string     // a folder outside of dir that goes with the server
	links  []string   // folders kept beside the program that it looks for in dir
}

func services() []service {
	return []service{
		{Part{Name: "s3", Program: "versitygw", module: filepath.Join("lab", "s3"), target: "github.com/versity/versitygw/cmd/versitygw", ldflags: "-s -w"}, serveS3},
		{Part{Name: "azure", Program: "azurite", module: filepath.Join("lab", "azure"), target: "azurite/dist/src/blob/main.js", made: npmProgram}, serveAzure},
		{Part{Name: "consul", Program: "consul", module: filepath.Join("lab", "consul"), target: ".", ldflags: "-s -w", gcflags: []string{"all=-N -l"}}, serveConsul},
		{Part{Name: "gcs", Program: "fake-gcs-server", module: filepath.Join("lab", "gcs"), target: "github.com/fsouza/fake-gcs-server", ldflags: "-s -w"}, serveGCS},
		{Part{Name: "dynamodb", Program: "dynalite", module: filepath.Join("lab", "dynamodb"), target: "dynalite/cli.js", made: npmProgram}, serveDynamoDB},
		{Part{Name: "postgres", Program: "postgres", module: filepath.Join("lab", "postgres"), target: "debian", made: postgresProgram}, servePostgres},
		{rabbitPart(), serveRabbit},
		{Part{Name: "tsa", Program: "timestamp-server", module: filepath.Join("lab", "tsa"), target: ".", ldflags: "-s -w"}, serveTSA},
		{Part{Name: "registry", Program: "registry", module: filepath.Join("lab", "registry"), target: "github.com/distribution/distribution/v3/cmd/registry", ldflags: "-s -w"}, serveRegistry},
		{Part{Name: "git", Program: "git-server", module: filepath.Join("lab", "git"), target: ".", ldflags: "-s -w"}, serveGit},
		{Part{Name: "redis", Program: "redis-server", module: filepath.Join("lab", "redis"), target: "redis-server", made: debianProgram}, serveRedis},
		giteaPart(),
		{Part{Name: "prometheus", Program: "prometheus", module: filepath.Join("lab", "prometheus"), target: "prometheus", made: debianProgram}, servePrometheus},
		{Part{Name: "mariadb", Program: "mariadb", module: filepath.Join("lab", "mariadb"), target: "mariadbd", made: mariaProgram}, serveMaria},
		{minioPart("minio", "minio", "github.com/minio/minio"), serveMinio},
		{Part{Name: "records", Program: "terraform-provider-records", module: filepath.Join("lab", "records"), target: ".", ldflags: "-s -w"}, serveRecords},
	}
}

// Services are the servers that tests use beside the lab.
func Services() []Part {
	var parts []Part
	for _, s := range services() {
		parts = append(parts, s.Part)
	}
	return parts
}

// BuildServices makes sure that every service is there, and the provider that
// some drills want.
func BuildServices(ctx context.Context, o Options) error {
	if _, err := KubernetesProvider(ctx, o); err != nil {
		return err
	}
	if _, err := (&Lab{source: o.Source}).Writers(ctx); err != nil {
		return err
	}
	for _, part := range Services() {
		if _, err := Service(ctx, o, part.Name); err != nil {
			return err
		}
	}
	if _, err := MinioAdmin(ctx, o); err != nil {
		return err
	}
	return o.buildControllers(ctx)
}

// Service returns the path of the program of a service, building it when it is missing.
func Service(ctx context.Context, o Options, name string) (string, error) {
	s, err := serviceNamed(name)
	if err != nil {
		return "", err
	}
	if o, err = o.filled(); err != nil {
		return "", err
	}
	return o.ensure(ctx, s.Part)
}

// Process says how a service is started at addr with its data in dir, building it when it
// is missing, and what its users need, as KEY=value.
func (l *Lab) Process(ctx context.Context, name, dir, addr string) (p Process, tell []string, err error) {
	return l.options().Process(ctx, name, dir, addr)
}

// Process is [Lab.Process] where there is no lab.
func (o Options) Process(ctx context.Context, name, dir, addr string) (p Process, tell []string, err error) {
	what, err := serviceNamed(name)
	if err != nil {
		return p, nil, err
	}
	program, err := Service(ctx, o, name)
	if err != nil {
		return p, nil, err
	}
	how, err := what.serve(dir, addr)
	if err != nil {
		return p, nil, err
	}
	if err := how.link(program, dir); err != nil {
		return p, nil, err
	}
	if len(how.asks) > 0 || how.nobody || how.any || how.dials != "" {
		return p, nil, fmt.Errorf("service %s of the lab is not started by its process alone", name)
	}
	p = Process{Name: name, Program: program, Args: how.args, Env: append([]string{"HOME=" + dir, "PATH=" + os.Getenv("PATH")}, how.env...), Dir: dir, First: how.first, Ready: "tcp://" + addr}
	if how.ready != "" {
		p.Ready = "http://" + addr + how.ready
	}
	return p, how.tell, nil
}

func serviceNamed(name string) (service, error) {
	all := services()
	i := slices.IndexFunc(all, func(s service) bool { return s.Name == name })
	if i < 0 {
		return service{}, fmt.Errorf("%q is not a service of the lab", name)
	}
	return all[i], nil
}

// serveS3 keeps buckets as directories of dir/buckets; one made there is a
// bucket at once. What its users need stands in the variables of the AWS tools,
// each request in dir/access.log. A bucket keeps versions once it is told to.
func serveS3(dir, addr string) (launch, error) {
	buckets, sidecar := filepath.Join(dir, "buckets"), filepath.Join(dir, "sidecar") // attributes: not each file system keeps them
	versions, people := filepath.Join(dir, "versions"), filepath.Join(dir, "iam")    // its users.json names accounts beside the one that it is told here
	for _, d := range []string{buckets, sidecar, versions, people} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return launch{}, err
		}
	}
	access, secret := "LAB"+randomHex(8), randomHex(20)
	return launch{
		args: []string{"--quiet", "--port", addr, "--health", "/health", "--access-log", filepath.Join(dir, "access.log"),
			"--iam-dir", people, "--iam-cache-disable", "posix", "--sidecar", sidecar, "--versioning-dir", versions, buckets},
		env:   []string{"ROOT_ACCESS_KEY=" + access, "ROOT_SECRET_KEY=" + secret},
		ready: "/health",
		tell: []string{"AWS_ENDPOINT_URL_S3=http://" + addr, "AWS_ACCESS_KEY_ID=" + access, "AWS_SECRET_ACCESS_KEY=" + secret,
			"AWS_REGION=us-east-1"},
	}, nil
}

// serveConsul is an agent that is a cluster by itself, with everything off that a
// store of keys does not need. Each request stands in its log. Its check of its
// own log now and then refuses a write that came in parts ("short buffer"); it is
// off only where the kind of the log is named (consul/agent/consul/server.go, setupRaft).
func serveConsul(dir, addr string) (launch, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return launch{}, err
	}
	inner, err := freePorts(3)
	if err != nil {
		return launch{}, err
	}
	config := fmt.Sprintf(`{
  "bind_addr": %q, "client_addr": %q, "data_dir": %q, "server": true, "bootstrap": true, "node_name": "lab",
  "ports": {"http": %s, "dns": -1, "grpc": -1, "grpc_tls": -1, "server": %d, "serf_lan": %d, "serf_wan": %d},
  "disable_update_check": true, "log_level": "DEBUG", "performance": {"raft_multiplier": 1}, "connect": {"enabled": false},
  "raft_logstore": {"backend": "wal", "verification": {"enabled": false}}
}
`, host, host, filepath.Join(dir, "data"), port, inner[0], inner[1], inner[2])
	name := filepath.Join(dir, "config.json")
	return launch{
		args:  []string{"-config-file", name},
		ready: "/v1/catalog/nodes", // once it has a leader
		tell:  []string{"CONSUL_HTTP_ADDR=" + addr},
	}, replace(name, []byte(config))
}

// serveGCS keeps buckets and all their generations in memory, and asks for no
// credentials.
func serveGCS(_, addr string) (launch, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return launch{}, err
	}
	return launch{
		args:  []string{"-backend", "memory", "-scheme", "http", "-host", host, "-port", port, "-public-host", addr, "-external-url", "http://" + addr},
		ready: "/_internal/healthcheck",
		tell:  []string{"STORAGE_EMULATOR_HOST=" + addr},
	}, nil
}

// serveAzure keeps the blobs of one storage account in memory.
func serveAzure(_, addr string) (launch, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return launch{}, err
	}
	key := base64.StdEncoding.EncodeToString([]byte(randomHex(32)))
	return launch{
		args: []string{"--blobHost", host, "--blobPort", port, "--inMemoryPersistence", "--skipApiVersionCheck", "--disableTelemetry", "--silent"},
		env:  []string{"AZURITE_ACCOUNTS=labaccount:" + key}, ready: "/", any: true,
		tell: []string{"ARM_ACCESS_KEY=" + key},
	}, nil
}

// serveDynamoDB keeps tables in memory. It takes any credentials.
func serveDynamoDB(_, addr string) (launch, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return launch{}, err
	}
	return launch{
		args:  []string{"--host", host, "--port", port, "--createTableMs", "0"},
		ready: "/",
		tell:  []string{"AWS_ENDPOINT_URL_DYNAMODB=http://" + addr},
	}, nil
}

// serveRegistry keeps a registry in dir/storage. It asks for a password where
// dir holds a file htpasswd, which the caller makes.
func serveRegistry(dir, addr string) (launch, error) {
	config := fmt.Sprintf(`version: 0.1
log: {level: error, accesslog: {disabled: true}}
storage: {filesystem: {rootdirectory: %q}, delete: {enabled: true}}
http: {addr: %q}
`, filepath.Join(dir, "storage"), addr)
	passwords := filepath.Join(dir, "htpasswd")
	if _, err := os.Stat(passwords); err == nil {
		config += fmt.Sprintf("auth: {htpasswd: {realm: lab, path: %q}}\n", passwords)
	}
	name := filepath.Join(dir, "config.yml")
	// The root of the API would ask for the password.
	return launch{args: []string{"serve", name}, env: []string{"OTEL_TRACES_EXPORTER=none"}, ready: "/"}, replace(name, []byte(config))
}

// serveTSA is a time stamping authority whose root lasts as long as it runs, and
// stands at its /api/v1/timestamp/certchain. It does not ask others for the time.
func serveTSA(_, addr string) (launch, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return launch{}, err
	}
	return launch{
		args:  []string{"--host", host, "--port", port},
		ready: "/ping",
		tell:  []string{"TSA_URL=http://" + addr + "/api/v1/timestamp"},
	}, nil
}

// serveGit serves the bare repositories of dir. GIT_WRITER is the account that may push.
func serveGit(dir, addr string) (launch, error) {
	writer := "lab:" + randomHex(16)
	return launch{
		args:  []string{"--dir", dir, "--addr", addr},
		ready: "/ready",
		tell:  []string{"GIT_WRITER=" + writer},
	}, replace(filepath.Join(dir, "writers"), []byte(writer+"\n"))
}

// serveRedis keeps everything in memory. It asks for the password in REDIS_PASSWORD: who may write here tells Argo CD
// what Git says.
func serveRedis(dir, addr string) (launch, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return launch{}, err
	}
	password, config := randomHex(16), filepath.Join(dir, "redis.conf")
	text := fmt.Sprintf("bind %s\nport %s\nrequirepass %s\nset-proc-title no\nsave \"\"\nappendonly no\ndir %q\n", host, port, password, dir)
	return launch{args: []string{config}, tell: []string{"REDIS_PASSWORD=" + password}}, replace(config, []byte(text))
}

// servePrometheus asks itself for its metrics each second, and nothing else: what a query is about is up to who asks.
func servePrometheus(dir, addr string) (launch, error) {
	config := filepath.Join(dir, "prometheus.yml")
	text := fmt.Sprintf("global: {scrape_interval: 1s}\nscrape_configs: [{job_name: itself, static_configs: [{targets: [%q]}]}]\n", addr)
	return launch{
		args:  []string{"--config.file=" + config, "--storage.tsdb.path=" + filepath.Join(dir, "data"), "--web.listen-address=" + addr, "--log.level=warn"},
		ready: "/-/ready", tell: []string{"PROMETHEUS_URL=http://" + addr},
	}, replace(config, []byte(text))
}

// giteaPart is a forge, which is asked through its API alone: templates, labels and one language are what it does not
// start without. Its database is C.
func giteaPart() service {
	const gitea = "code.gitea.io/gitea"
	return service{Part{Name: "gitea", Program: "gitea", module: filepath.Join("lab", "gitea"), target: gitea, ldflags: "-s -w -X main.Version=1.24.6",
		gcflags: []string{"all=-N -l -dwarf=false", "std="}, tags: "sqlite,sqlite_unlock_notify", cgo: true,
		trees: []beside{{gitea, "templates"}, {gitea, "options/gitignore"}, {gitea, "options/label"}, {gitea, "options/license"}, {gitea, "options/readme"},
			{gitea, "options/locale/locale_en-US.ini"}}}, serveGitea}
}

// GiteaAdmin is the account of a Gitea that makes all others.
const GiteaAdmin = "lab-admin"

// serveGitea keeps repositories, a database of one file and its settings in dir. It dials nothing else: no update check, no
// avatars, no mail, no SSH, no migration, and webhooks go to loopback alone. The administrator is made before it starts, since
// the API wants one, and a server beside which another process writes the database now and then never answers again.
func serveGitea(dir, addr string) (launch, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return launch{}, err
	}
	in := func(name string) string { return filepath.Join(dir, name) }
	config := fmt.Sprintf(`APP_NAME = handrail lab
RUN_MODE = prod
I_AM_BEING_UNSAFE_RUNNING_AS_ROOT = true
WORK_PATH = %[1]s
[server]
PROTOCOL = http
HTTP_ADDR = %[2]s
HTTP_PORT = %[3]s
DOMAIN = %[2]s
ROOT_URL = http://%[2]s:%[3]s/
LOCAL_ROOT_URL = http://%[2]s:%[3]s/
DISABLE_SSH = true
OFFLINE_MODE = true
LFS_START_SERVER = false
[database]
DB_TYPE = sqlite3
PATH = %[4]s
SQLITE_JOURNAL_MODE = WAL
[repository]
ROOT = %[5]s
DEFAULT_BRANCH = main
[security]
INSTALL_LOCK = true
SECRET_KEY = %[6]s
INTERNAL_TOKEN = %[7]s
PASSWORD_COMPLEXITY = off
PASSWORD_HASH_ALGO = pbkdf2_v1
MIN_PASSWORD_LENGTH = 8
[oauth2]
ENABLED = false
JWT_SECRET = %[8]s
[openid]
ENABLE_OPENID_SIGNIN = false
ENABLE_OPENID_SIGNUP = false
[service]
DISABLE_REGISTRATION = true
ENABLE_NOTIFY_MAIL = false
[mailer]
ENABLED = false
[webhook]
ALLOWED_HOST_LIST = loopback
[migrations]
ALLOWED_DOMAINS = invalid.
[picture]
DISABLE_GRAVATAR = true
ENABLE_FEDERATED_AVATAR = false
[federation]
ENABLED = false
[packages]
ENABLED = false
[mirror]
ENABLED = false
[actions]
ENABLED = true
DEFAULT_ACTIONS_URL = self
[cron]
ENABLED = false
RUN_AT_START = false
[cron.update_checker]
ENABLED = false
[indexer]
ISSUE_INDEXER_TYPE = db
REPO_INDEXER_ENABLED = false
[i18n]
LANGS = en-US
NAMES = English
[log]
MODE = console
LEVEL = Info
[session]
PROVIDER = memory
`, dir, host, port, in("gitea.db"), in("repositories"), randomHex(32), randomHex(32), base64.RawURLEncoding.EncodeToString([]byte(randomHex(16))))
	name := in("app.ini")
	run := func(args ...string) []string { return append([]string{"--config", name}, args...) }
	first := [][]string{run("migrate")}
	password, err := os.ReadFile(in("admin"))
	if errors.Is(err, fs.ErrNotExist) { // else the account is there
		password = []byte(randomHex(20))
		first = append(first, run("admin", "user", "create", "--admin", "--username", GiteaAdmin, "--email", GiteaAdmin+"@lab.invalid", "--password", string(password), "--must-change-password=false"))
		err = replace(in("admin"), password)
	}
	if err != nil {
		return launch{}, err
	}
	return launch{
		args: run("web"), first: first, ready: "/api/healthz", links: []string{"templates", "options"},
		env:  []string{"GITEA_WORK_DIR=" + dir, "TMPDIR=" + dir},
		tell: []string{"GITEA_ADMIN_PASSWORD=" + string(password), "GITEA_SERVER_URL=http://" + addr},
	}, replace(name, []byte(config))
}

// minioPart is one of the two programs of that module: the store, and what administers it. Neither is linked into anything else:
// their license is the AGPL.
func minioPart(name, program, target string) Part {
	return Part{Name: name, Program: program, module: filepath.Join("lab", "minio"), target: target, ldflags: "-s -w"}
}

// MinioAdmin returns the path of the program that administers a MinIO, building it when it is missing.
func MinioAdmin(ctx context.Context, o Options) (string, error) {
	o, err := o.filled()
	if err != nil {
		return "", err
	}
	return o.ensure(ctx, minioPart("minio-admin", "minio-admin", "."))
}

// serveMinio keeps objects, accounts and settings in dir/data. It dials nothing: no update check, no console, no other node. It
// listens on [::1] as well. What its users need stands in the variables of the AWS tools; those keys may administer it too.
func serveMinio(dir, addr string) (launch, error) {
	data, access, secret := filepath.Join(dir, "data"), "LAB"+randomHex(8), randomHex(20)
	return launch{
		args: []string{"server", "--quiet", "--address", addr, data},
		env: []string{"MINIO_ROOT_USER=" + access, "MINIO_ROOT_PASSWORD=" + secret, "MINIO_BROWSER=off", "MINIO_UPDATE=off", "MINIO_CALLHOME_ENABLE=off",
			"MINIO_CONFIG_ENV_FILE=" + filepath.Join(dir, "none"), "TMPDIR=" + dir},
		ready: "/minio/health/ready",
		tell:  []string{"AWS_ENDPOINT_URL_S3=http://" + addr, "AWS_ACCESS_KEY_ID=" + access, "AWS_SECRET_ACCESS_KEY=" + secret, "AWS_REGION=us-east-1"},
	}, os.MkdirAll(data, 0o700)
}

// link gives the server the folders beside its program that it looks for in its own.
func (l launch) link(program, dir string) error {
	for _, name := range l.links {
		to := filepath.Join(dir, name)
		if err := os.Symlink(filepath.Join(Manifests(program), name), to); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return nil
}
